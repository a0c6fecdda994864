// Reading and writing weights.safetensors (the format of huggingface.co/docs/safetensors): a length, a JSON
// header, raw little-endian tensors. Only F32, F16, I64 and U8 are taken.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace waymark {

struct TensorData {
  enum class Type { kF32, kF16, kI64, kU8 };
  Type type = Type::kF32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;  // row-major
  int64_t elements() const;
  absl::Span<const float> floats() const;  // for kF32
  static TensorData F32(std::vector<int64_t> shape, absl::Span<const float> values);
};
using TensorMap = std::map<std::string, TensorData>;

// Every length is checked against the file's size before anything is allocated; DATA_LOSS names what is
// wrong.
absl::StatusOr<TensorMap> ReadSafetensors(const std::filesystem::path& file);
absl::Status WriteSafetensors(const std::filesystem::path& file, const TensorMap& tensors);

}  // namespace waymark
