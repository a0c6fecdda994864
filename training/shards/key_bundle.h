// A key bundle: the keys that open the sealed records of one folder of shards, for a while. `waymark export
// keys` writes it from the store, waymark-train reads it; users that were erased since the shards were
// written have no key in it, and their records are skipped.
//
//   absl::StatusOr<ShardKeys> keys = ShardKeys::Read("keys", {"shards", fingerprint, absl::Now()});
//   absl::StatusOr<std::string_view> key = keys->Find(user);  // empty: erased
//
// The file, of mode 0600: "WAYMKEYS", format (4 bytes, little-endian), the message storage.KeyBundle, SHA-256
// of all before it. Whoever has it and the shards can read the shards: it is for one training.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {

// Atomic and synced; a file that is there is replaced.
absl::Status WriteKeyBundle(const std::filesystem::path& file, const storage::KeyBundle& bundle);
// NOT_FOUND: there is none. DATA_LOSS: it is damaged, or no key bundle. FAILED_PRECONDITION: a newer format.
absl::StatusOr<storage::KeyBundle> ReadKeyBundle(const std::filesystem::path& file);

// Thread-safe.
class ShardKeys {
 public:
  // What a bundle must suit.
  struct Use {
    std::filesystem::path shards;
    std::string shards_sha256;  // their fingerprint
    absl::Time now;
  };
  // As ReadKeyBundle; FAILED_PRECONDITION also: it has expired, or belongs to other shards.
  static absl::StatusOr<ShardKeys> Read(const std::filesystem::path& file, const Use& use);
  // users, erased_users: ascending.
  explicit ShardKeys(storage::KeyBundle bundle) : bundle_(std::move(bundle)) {}

  // The user's key; empty: the user was erased. FAILED_PRECONDITION: the bundle does not know the user.
  absl::StatusOr<std::string_view> Find(uint64_t user) const;
  int64_t erased_users() const { return bundle_.erased_users_size(); }
  // SHA-256 of which users were erased, in words for a job's settings; "": nobody.
  std::string ErasedText() const;
  // SHA-256 of all keys.
  std::string Sha256() const;
  // Takes the records of erased users off each file's `examples`. Answers how many there are.
  int64_t TakeErased(google::protobuf::RepeatedPtrField<storage::ExamplesIndex::File>* files) const;

 private:
  storage::KeyBundle bundle_;
};

}  // namespace waymark
