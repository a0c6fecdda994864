// Noise of the Gaussian mechanism: N(0, deviation^2) on each number, from the operating system's randomness
// (a generator that can be foreseen would give the noise away).
#pragma once
#include "absl/status/status.h"
#include "absl/types/span.h"

namespace waymark {

// Box-Muller in double precision. Thread-safe. INVALID_ARGUMENT: a deviation below 0.
absl::Status AddGaussianNoise(double deviation, absl::Span<float> values);

}  // namespace waymark
