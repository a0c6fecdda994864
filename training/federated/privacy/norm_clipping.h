// Clipping by the L2 norm: no update moves the model further than `limit`, whatever its data (Abadi et al.
// 2016; McMahan et al. 2018 for whole updates).
#pragma once
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace waymark {

// Computed in double precision; not finite when a value is not.
double L2Norm(absl::Span<const float> values);

// Scales `values` to a norm of at most `limit`, and never above it by rounding. Answers the norm of before.
// INVALID_ARGUMENT: a value is not finite.
absl::StatusOr<double> ClipToNorm(double limit, absl::Span<float> values);

}  // namespace waymark
