// In which numbers a model is trained. Weights, gradients' sums, moments, losses and packages are fp32 in
// either.
#pragma once
#include <string>

namespace waymark {

// kBf16: products with dense matrices in bfloat16 (recommend/network/bf16_matrices.h,
// training/ranker/autocast_bf16.h).
enum class TrainingPrecision { kFp32, kBf16 };

inline std::string PrecisionText(TrainingPrecision precision) {
  return precision == TrainingPrecision::kBf16 ? "bf16" : "fp32";
}

}  // namespace waymark
