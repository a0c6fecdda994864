// What the coordinator does with the mean of a round's updates (Reddi et al. 2021, algorithm 2).
//
//   FedAvg:   x += rate * mean
//   FedAdam:  m = b1 m + (1 - b1) mean;  v = b2 v + (1 - b2) mean^2;  x += rate * m / (sqrt(v) + tau)
#pragma once
#include <vector>

#include "absl/types/span.h"

namespace waymark {

enum class ServerRule { kFedAvg, kFedAdam };

struct ServerOptimizerOptions {
  ServerRule rule = ServerRule::kFedAvg;
  double rate = 1;
  double beta1 = 0.9, beta2 = 0.99, tau = 1e-3;
};

// Of FedAdam; empty before the first round, and always with FedAvg.
struct ServerMoments {
  std::vector<float> first, second;
};

// mean, model: of one length.
void ApplyMeanUpdate(const ServerOptimizerOptions& options, absl::Span<const float> mean,
                     ServerMoments* moments, absl::Span<float> model);

}  // namespace waymark
