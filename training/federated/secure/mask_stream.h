// A mask: numbers modulo 2^64 that look random to whoever does not know the seed. The key stream of
// AES-256-CTR under the seed from counter 0, eight bytes a number, little-endian. A seed masks one vector,
// once.
//
//   AddMask(seed, MaskSign::kPlus, absl::MakeSpan(values));
//
// No state; thread-safe.
#pragma once
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "training/federated/secure/key_agreement.h"

namespace waymark {

enum class MaskSign { kPlus, kMinus };

// values[i] += or -= mask[i], modulo 2^64.
absl::Status AddMask(const Key& seed, MaskSign sign, absl::Span<uint64_t> values);

}  // namespace waymark
