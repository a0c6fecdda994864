#include "training/shards/export_keys.h"

#include <algorithm>
#include <map>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rank/feature_table.h"
#include "store/package/model_package.h"
#include "training/shards/examples_index.h"
#include "training/shards/lists_index.h"
#include "training/shards/record_seal.h"
#include "training/shards/shard_files.h"

namespace waymark {
namespace {

// What matters of either kind of index.
struct SealedShards {
  std::string kind, compression, fingerprint;
  storage::Sealing sealing;
  std::vector<storage::ExamplesIndex::File> files;
  uint64_t log_epoch = 0;
};

template <typename Index>
void TakeIndex(const Index& index, SealedShards* shards) {
  shards->kind = index.kind();
  shards->compression = index.compression();
  shards->sealing = index.sealing();
  shards->files.insert(shards->files.end(), index.files().begin(), index.files().end());
  if (index.first().parts_size() > 0) shards->log_epoch = index.first().parts(0).epoch();
}

absl::StatusOr<SealedShards> ReadSealedIndex(const std::filesystem::path& folder) {
  auto kind = KindOfShards(folder);
  if (!kind.ok()) return kind.status();
  SealedShards shards;
  if (*kind == kLists) {
    const FeatureTable& table = FeatureTable::Current();
    auto index = ReadListsIndex(folder, {table.Names(), table.sha256()});
    if (!index.ok()) return index.status();
    TakeIndex(*index, &shards);
    shards.files.insert(shards.files.end(), index->validation().begin(), index->validation().end());
    shards.fingerprint = ListsFingerprint(*index);
  } else {
    auto index = ReadExamplesIndex(folder);
    if (!index.ok()) return index.status();
    TakeIndex(*index, &shards);
    shards.fingerprint = ExamplesFingerprint(*index);
  }
  if (shards.sealing.salt().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder.string(),
                     " is not sealed: waymark-train reads it without keys, and erasure does not reach it"));
  }
  return shards;
}

// Goes through the shards: whose records they hold, and which of those have a key still.
class KeyCollector {
 public:
  KeyCollector(const KeysInput& input, const std::filesystem::path& folder, const SealedShards& shards)
      : input_(input), shards_(shards), files_(folder, shards.compression) {}

  absl::Status Collect(storage::KeyBundle* bundle) {
    auto packing = ShardPackingOf(shards_.compression);
    if (!packing.ok()) return packing.status();
    const SealedKind kind{shards_.kind, *packing};
    SealedRecord sealed;
    for (const auto& file : shards_.files) {
      int64_t erased = 0;
      const absl::Status read = files_.ReadRecords(file, [&](std::string_view record) -> absl::Status {
        if (absl::Status parsed = ParseSealedRecord(record, &sealed); !parsed.ok()) return parsed;
        auto [known, is_new] = keys_.try_emplace(sealed.user);
        if (is_new) {
          if (absl::Status found = FindKey(kind, sealed, &known->second); !found.ok()) return found;
        }
        if (known->second.empty()) ++erased;
        return absl::OkStatus();
      });
      if (!read.ok()) return read;
      if (erased == 0) continue;
      auto* told = bundle->add_files();
      told->set_name(file.name());
      told->set_erased(erased);
    }
    for (const auto& [user, key] : keys_) {
      if (key.empty()) {
        bundle->add_erased_users(user);
      } else {
        bundle->add_users(user);
        bundle->mutable_keys()->append(key);
      }
    }
    return absl::OkStatus();
  }

 private:
  // The first record of each user is opened: a user of that number in another collection has another secret.
  absl::Status FindKey(const SealedKind& kind, const SealedRecord& record, std::string* key) const {
    auto secret = input_.store->UserSecret(input_.scope, record.user);
    if (absl::IsNotFound(secret.status())) return absl::OkStatus();
    if (!secret.ok()) return secret.status();
    *key = FolderKey(*secret, shards_.sealing.salt());
    const absl::Status opened = OpenSealedRecord(kind, *key, record).status();
    if (opened.ok()) return opened;
    return absl::FailedPreconditionError(
        absl::StrCat(opened.message(), "; were these shards exported from this data folder and collection?"));
  }

  const KeysInput& input_;
  const SealedShards& shards_;
  ShardFiles files_;
  std::map<uint64_t, std::string> keys_;  // empty: erased
};

std::string CollectionText(const KeysInput& input) {
  return absl::StrCat(input.store->epoch(), "\n", input.scope.tenant, " ", input.scope.collection, "\n");
}

}  // namespace

std::string SaltOfShards(const KeysInput& input, std::string_view kind, std::string_view data_hashes) {
  return Sha256Hex(absl::StrCat(std::string(kind), "\n", CollectionText(input), std::string(data_hashes)));
}

storage::Sealing SealingOf(const KeysInput& input, std::string_view salt) {
  storage::Sealing sealing;
  sealing.set_method(kSealMethod);
  sealing.set_salt(std::string(salt));
  sealing.set_collection_sha256(Sha256Hex(CollectionText(input)));
  return sealing;
}

absl::StatusOr<ShardKeys> KeysOfUsers(const KeysInput& input, absl::Span<const UserNumber> users,
                                      std::string_view salt) {
  std::vector<UserNumber> sorted(users.begin(), users.end());
  std::sort(sorted.begin(), sorted.end());
  storage::KeyBundle bundle;
  for (UserNumber user : sorted) {
    auto secret = input.store->UserSecret(input.scope, user);
    if (absl::IsNotFound(secret.status())) {
      return absl::FailedPreconditionError(absl::StrCat(
          secret.status().message(), ": the data folder was written by an older program; open it ",
          "for writing with this one (`waymark serve`, an import), or export with --plain"));
    }
    if (!secret.ok()) return secret.status();
    bundle.add_users(user);
    bundle.mutable_keys()->append(FolderKey(*secret, salt));
  }
  return ShardKeys(std::move(bundle));
}

absl::StatusOr<ExportedKeys> ExportKeys(const KeysInput& input, const ExportKeysOptions& options) {
  auto shards = ReadSealedIndex(options.shards);
  if (!shards.ok()) return shards.status();
  if (shards->log_epoch != input.store->epoch()) {
    return absl::FailedPreconditionError(absl::StrCat(
        options.shards.string(), " was exported from another data folder: its log has the epoch ",
        shards->log_epoch, ", this one's ", input.store->epoch()));
  }
  // Else every user that the other one does not have would be taken for erased.
  if (shards->sealing.collection_sha256() != SealingOf(input, "").collection_sha256()) {
    return absl::FailedPreconditionError(absl::StrCat(
        options.shards.string(), " was exported from another collection of this data folder; name ",
        "it with --collection and --tenant"));
  }
  storage::KeyBundle bundle;
  if (absl::Status collected = KeyCollector(input, options.shards, *shards).Collect(&bundle);
      !collected.ok()) {
    return collected;
  }
  const absl::Time now = options.clock->Now();
  bundle.set_shards_sha256(shards->fingerprint);
  bundle.set_create_time_us(absl::ToUnixMicros(now));
  bundle.set_expire_time_us(absl::ToUnixMicros(now + options.valid_for));
  if (absl::Status written = WriteKeyBundle(options.file, bundle); !written.ok()) return written;
  ExportedKeys made;
  made.users = bundle.users_size();
  made.erased_users = bundle.erased_users_size();
  for (const auto& file : bundle.files()) made.erased_records += file.erased();
  made.expires = absl::FromUnixMicros(bundle.expire_time_us());
  return made;
}

}  // namespace waymark
