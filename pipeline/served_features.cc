#include "pipeline/served_features.h"

#include <bit>
#include <cstring>

#include "rank/feature_table.h"

namespace waymark {

uint16_t ToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude >= 0x7F800000u) {  // infinity, NaN
    return sign | (magnitude > 0x7F800000u ? 0x7E00u : 0x7C00u);
  }
  if (magnitude >= 0x477FF000u) return sign | 0x7C00u;  // rounds beyond 65504
  uint32_t mantissa, shift;
  uint16_t half;
  if (magnitude < 0x38800000u) {  // below 2^-14: a subnormal half, or zero
    if (magnitude < 0x33000000u) return sign;
    mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
    shift = 126 - (magnitude >> 23);
    half = static_cast<uint16_t>(mantissa >> shift);
  } else {
    mantissa = magnitude - 0x38000000u;
    shift = 13;
    half = static_cast<uint16_t>(mantissa >> 13);
  }
  const uint32_t rest = mantissa & ((1u << shift) - 1), halfway = 1u << (shift - 1);
  if (rest > halfway || (rest == halfway && (half & 1))) ++half;
  return sign | half;
}

float FromHalf(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1Fu, mantissa = bits & 0x3FFu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent == 0) {
    if (mantissa == 0) return std::bit_cast<float>(sign);
    exponent = 1;
    while ((mantissa & 0x400u) == 0) mantissa <<= 1, --exponent;
    mantissa &= 0x3FFu;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

void AddServedFeatures(const RequestContext& context, absl::Span<const Candidate> candidates,
                       storage::ServeRecord* record) {
  const FeatureTable& table = FeatureTable::Current();
  std::vector<float> features(candidates.size() * table.size());
  table.Compute(context, candidates, absl::MakeSpan(features));
  std::string* bytes = record->mutable_features_fp16();
  bytes->resize(features.size() * 2);
  for (size_t i = 0; i < features.size(); ++i) {
    const uint16_t half = ToHalf(features[i]);
    std::memcpy(bytes->data() + 2 * i, &half, 2);
  }
  for (const Candidate& candidate : candidates) record->add_candidates(candidate.item);
  record->set_features_sha256(table.sha256());
}

}  // namespace waymark
