// Records of users, sealed so that they can be read only with the user's key: erasing the user makes them
// unreadable wherever they lie.
//
// The store holds a secret for each user. A folder of shards has a key for each user, derived from secret and
// folder (HMAC-SHA-256), so that a key bundle opens one folder and nothing else. A sealed record is a
// tf.train.Example with the features
//
//   user    int64   the user's number, by which its key is found
//   sealed  bytes   nonce (12 bytes), then by AES-256-GCM: length of the record (4 bytes, little-endian) and
//                   the record, packed as the folder's files are; then the tag (16 bytes)
//
// with the kind of shards and the user's number as associated data. The nonce is an HMAC of what is sealed:
// no two records of a user share one, and the same export is the same bytes.
//
//   std::string key = FolderKey(secret, salt);
//   absl::StatusOr<std::string> sealed = SealRecord({kHistories, packing}, key, user, record);
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "training/shards/shard_packing.h"

namespace waymark {

inline constexpr char kSealMethod[] = "aes-256-gcm";
inline constexpr size_t kFolderKeyBytes = 32;

// salt: of the folder's index.
std::string FolderKey(std::string_view secret, std::string_view salt);

struct SealedKind {
  std::string_view kind;  // of the shards: "histories", "lists"
  ShardPacking packing = ShardPacking::kNone;
};

absl::StatusOr<std::string> SealRecord(const SealedKind& kind, std::string_view key, uint64_t user,
                                       std::string_view record);

// A sealed record before it is opened.
struct SealedRecord {
  uint64_t user = 0;
  std::string sealed;
};
// DATA_LOSS: it is none.
absl::Status ParseSealedRecord(std::string_view record, SealedRecord* out);
// The record that was sealed. DATA_LOSS names the user: it was changed, or the key is another's.
absl::StatusOr<std::string> OpenSealedRecord(const SealedKind& kind, std::string_view key,
                                             const SealedRecord& record);

}  // namespace waymark
