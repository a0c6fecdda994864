// Opaque tokens that only this data folder can make: compressed messages with an HMAC-SHA-256. Page tokens
// and attribution tokens are such.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

namespace waymark {

// 32 bytes in DATA/signing.key, made at first use and readable by its owner only. Immutable; thread-safe.
class SigningKey {
 public:
  // `create` false (a read-only folder): a key of this process only when there is none.
  static absl::StatusOr<SigningKey> Open(const std::filesystem::path& data, bool create);
  explicit SigningKey(std::string bytes) : bytes_(std::move(bytes)) {}

  // `purpose` keeps one kind of token from being taken for another.
  std::string Sign(std::string_view purpose, const google::protobuf::MessageLite& message) const;
  // INVALID_ARGUMENT for anything that Sign with this key and purpose did not make.
  absl::Status Verify(std::string_view purpose, std::string_view token,
                      google::protobuf::MessageLite* message) const;

 private:
  std::string bytes_;
};

}  // namespace waymark
