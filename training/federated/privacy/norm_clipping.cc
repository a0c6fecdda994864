#include "training/federated/privacy/norm_clipping.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace waymark {

double L2Norm(absl::Span<const float> values) {
  double sum = 0;
  for (float value : values) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

absl::StatusOr<double> ClipToNorm(double limit, absl::Span<float> values) {
  const double norm = L2Norm(values);
  if (!std::isfinite(norm)) {
    size_t place = 0;
    while (place < values.size() && std::isfinite(values[place])) ++place;
    return absl::InvalidArgumentError(absl::StrCat("the update is not finite (number ", place, " of ",
                                                   values.size(), "); a smaller learning rate may help"));
  }
  if (norm > limit) {
    // A float's rounding is at most 2^-24 of it.
    const double factor = limit / norm * (1 - 1e-7);
    for (float& value : values) value = static_cast<float>(value * factor);
  }
  return norm;
}

}  // namespace waymark
