#include "rank/network/ranker_explanation.h"

namespace waymark {
namespace {

constexpr int kSteps = 16;

std::vector<float> ToVector(const torch::Tensor& t) {
  const torch::Tensor flat = t.contiguous();
  return std::vector<float>(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
}

}  // namespace

RankerAttribution Attribute(const RankerNetworkImpl& network, const torch::Tensor& x,
                            const torch::Tensor& z) {
  torch::Tensor slope = torch::zeros_like(z);
  for (int step = 0; step < kSteps; ++step) {
    torch::AutoGradMode with_gradient(true);
    const torch::Tensor point = (z.detach() * ((step + 0.5) / kSteps)).requires_grad_(true);
    const torch::Tensor sum = network.Deep(point, nullptr).select(2, 0).sum();
    slope += torch::autograd::grad({sum}, {point})[0] / kSteps;
  }
  torch::NoGradGuard no_gradient;
  const int64_t features = network.config().features, width = network.config().width;
  const torch::Tensor parts = (slope * z)[0];
  auto group = [&](int64_t first, int64_t count) {
    return ToVector(parts.narrow(1, features + first * width, count * width).sum(1));
  };
  RankerAttribution result;
  result.baseline = network.Deep(torch::zeros({1, 1, z.size(2)}), nullptr).select(2, 0).item<float>();
  result.dense = ToVector(parts.narrow(1, 0, features) + x[0] * network.skip[0]);
  result.item = group(0, 1);
  result.history = group(1, 2);
  result.query = group(3, 2);
  return result;
}

}  // namespace waymark
