// A message that only one other site can read, and that cannot be changed on its way: AES-256-GCM, with a
// random nonce in front. `context` (who to whom, in which round) is bound to it and not sent.
#pragma once
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "training/federated/secure/key_agreement.h"

namespace waymark {

absl::StatusOr<std::string> SealMessage(const Key& key, std::string_view context, std::string_view message);
// DATA_LOSS: changed, of another context, or sealed under another key.
absl::StatusOr<std::string> OpenMessage(const Key& key, std::string_view context, std::string_view sealed);

}  // namespace waymark
