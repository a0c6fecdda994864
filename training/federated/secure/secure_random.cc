#include "training/federated/secure/secure_random.h"

#include <openssl/rand.h>

namespace waymark {

absl::Status FillRandom(absl::Span<uint8_t> out) {
  if (RAND_bytes(out.data(), static_cast<int>(out.size())) != 1) {
    return absl::InternalError("the operating system gives no random bytes; no key can be made");
  }
  return absl::OkStatus();
}

}  // namespace waymark
