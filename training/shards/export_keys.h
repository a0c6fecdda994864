// `waymark export keys`: a key bundle (key_bundle.h) for a folder of sealed shards, from the store as it is
// now. A user that was erased since the export has no secret any more, so no bundle opens that user's records
// again.
//
//   absl::StatusOr<ExportedKeys> made = ExportKeys({&store, scope}, {.shards = "shards", .file = "keys"});
#pragma once
#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "store/clock.h"
#include "store/store.h"
#include "training/shards/key_bundle.h"

namespace waymark {

struct KeysInput {
  const Store* store = nullptr;
  Scope scope;
};

struct ExportKeysOptions {
  std::filesystem::path shards, file;
  absl::Duration valid_for = absl::Hours(24);
  const Clock* clock = Clock::Real();
};

struct ExportedKeys {
  int64_t users = 0, erased_users = 0, erased_records = 0;
  absl::Time expires;
};

// FAILED_PRECONDITION: the shards are not sealed, or another data folder or collection sealed them.
absl::StatusOr<ExportedKeys> ExportKeys(const KeysInput& input, const ExportKeysOptions& options);

// For exports: the salt of the keys, of the data that is exported (`data_hashes`), what the index says of the
// sealing, and the keys of all users.
std::string SaltOfShards(const KeysInput& input, std::string_view kind, std::string_view data_hashes);
storage::Sealing SealingOf(const KeysInput& input, std::string_view salt);
// FAILED_PRECONDITION: the folder is of an older format, and has no secrets.
absl::StatusOr<ShardKeys> KeysOfUsers(const KeysInput& input, absl::Span<const UserNumber> users,
                                      std::string_view salt);

}  // namespace waymark
