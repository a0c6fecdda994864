#include "training/federated/privacy/fixed_point.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

// Short of 2^63 by more than the rounding of a product of doubles, times the sites.
constexpr double kReach = 0x1p63 * (1 - 0x1p-44);

}  // namespace

FixedPoint::FixedPoint(double bound, size_t most_sites)
    : bound_(bound), scale_(std::floor(kReach / static_cast<double>(most_sites)) / bound) {}

absl::StatusOr<std::vector<uint64_t>> FixedPoint::Encode(absl::Span<const float> values) const {
  std::vector<uint64_t> words(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(std::abs(values[i]) <= bound_)) {
      return absl::InvalidArgumentError(absl::StrCat("number ", i, " of the update is ", values[i],
                                                     "; it takes finite ones of at most ", bound_));
    }
    words[i] = static_cast<uint64_t>(static_cast<int64_t>(values[i] * scale_));
  }
  return words;
}

std::vector<float> FixedPoint::Decode(absl::Span<const uint64_t> words) const {
  std::vector<float> values(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    values[i] = static_cast<float>(static_cast<double>(static_cast<int64_t>(words[i])) / scale_);
  }
  return values;
}

}  // namespace waymark
