#include "training/federated/model/server_optimizer.h"

#include <cmath>

namespace waymark {

void ApplyMeanUpdate(const ServerOptimizerOptions& options, absl::Span<const float> mean,
                     ServerMoments* moments, absl::Span<float> model) {
  const float rate = static_cast<float>(options.rate);
  if (options.rule == ServerRule::kFedAvg) {
    for (size_t i = 0; i < model.size(); ++i) model[i] += rate * mean[i];
    return;
  }
  moments->first.resize(model.size(), 0);
  moments->second.resize(model.size(), 0);
  const float beta1 = static_cast<float>(options.beta1), beta2 = static_cast<float>(options.beta2);
  const float tau = static_cast<float>(options.tau);
  for (size_t i = 0; i < model.size(); ++i) {
    float& first = moments->first[i];
    float& second = moments->second[i];
    first = beta1 * first + (1 - beta1) * mean[i];
    second = beta2 * second + (1 - beta2) * mean[i] * mean[i];
    model[i] += rate * first / (std::sqrt(second) + tau);
  }
}

}  // namespace waymark
