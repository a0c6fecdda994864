// Bytes that nobody can foresee: keys, seeds, nonces, noise. From the operating system, through OpenSSL.
#pragma once
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace waymark {

// Thread-safe. INTERNAL: the machine gives no randomness; nothing may be sent then.
absl::Status FillRandom(absl::Span<uint8_t> out);

}  // namespace waymark
