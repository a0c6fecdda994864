#include "training/federated/privacy/gaussian_noise.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "training/federated/secure/secure_random.h"

namespace waymark {
namespace {

constexpr size_t kPairsAtOnce = 4096;

// In (0, 1]: its logarithm is finite.
double UnitFrom(const uint64_t bits) { return (static_cast<double>(bits >> 11) + 1) * 0x1.0p-53; }

}  // namespace

absl::Status AddGaussianNoise(double deviation, absl::Span<float> values) {
  if (!(deviation >= 0) || std::isinf(deviation)) {
    return absl::InvalidArgumentError(absl::StrCat("the deviation of noise is ", deviation));
  }
  if (deviation == 0) return absl::OkStatus();
  std::vector<uint64_t> bits(2 * kPairsAtOnce);
  for (size_t first = 0; first < values.size(); first += 2 * kPairsAtOnce) {
    const size_t count = std::min(2 * kPairsAtOnce, values.size() - first);
    auto status =
        FillRandom({reinterpret_cast<uint8_t*>(bits.data()), (count + 1) / 2 * 2 * sizeof(uint64_t)});
    if (!status.ok()) return status;
    for (size_t i = 0; i < count; i += 2) {
      const double radius = deviation * std::sqrt(-2 * std::log(UnitFrom(bits[i])));
      const double angle = 2 * M_PI * UnitFrom(bits[i + 1]);
      values[first + i] += static_cast<float>(radius * std::cos(angle));
      if (i + 1 < count) values[first + i + 1] += static_cast<float>(radius * std::sin(angle));
    }
  }
  return absl::OkStatus();
}

}  // namespace waymark
