// A folder of shards, as an export would write it, from histories in memory.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "store/package/model_package.h"
#include "store/package/package_files.h"
#include "training/shards/examples_index.h"
#include "training/shards/history_example.h"
#include "training/shards/record_frames.h"
#include "training/shards/shard_packing.h"
#include "training/shards/shard_writer.h"

namespace waymark::tests {

class ShardFolder {
 public:
  explicit ShardFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / absl::StrCat(name, ".", getpid(), ".", Next())) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~ShardFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  static int Next() {
    static int count = 0;
    return ++count;
  }
  std::filesystem::path path_;
};

inline storage::ExamplesIndex::File WriteShardFile(const std::filesystem::path& folder,
                                                   const std::string& name, ShardPacking packing,
                                                   const std::string& raw, int64_t records) {
  const std::string packed = *Pack(packing, raw);
  const std::string_view part = packed;
  (void)WriteSyncedFile(folder / name, {&part, 1});
  storage::ExamplesIndex::File file;
  file.set_name(name);
  file.set_bytes(static_cast<int64_t>(packed.size()));
  file.set_sha256(Sha256Hex(packed));
  file.set_raw_bytes(static_cast<int64_t>(raw.size()));
  file.set_examples(records);
  return file;
}

// A bundle with a key for each of `users` (ascending), but those that were erased.
inline storage::KeyBundle BundleOf(const std::vector<uint64_t>& users, const std::set<uint64_t>& erased = {},
                                   absl::Time expires = absl::Now() + absl::Hours(1)) {
  storage::KeyBundle bundle;
  for (uint64_t user : users) {
    if (erased.contains(user)) {
      bundle.add_erased_users(user);
      continue;
    }
    bundle.add_users(user);
    bundle.mutable_keys()->append(FolderKey(absl::StrCat("secret of ", user), "salt"));
  }
  bundle.set_expire_time_us(absl::ToUnixMicros(expires));
  return bundle;
}

inline void SealIndex(storage::Sealing* sealing) {
  sealing->set_method(kSealMethod);
  sealing->set_salt("salt");
}

struct WrittenBy {
  ShardPacking packing = ShardPacking::kZstd;
  const ShardKeys* keys = nullptr;                           // sealed, when there are any
  std::set<uint64_t> left_out;                               // users that are not written
  std::vector<uint64_t> (*content)(int64_t item) = nullptr;  // hashes; null: no item has any
};

// History u goes to file u % files.
inline storage::ExamplesIndex WriteShards(const std::filesystem::path& folder, int files, int64_t items,
                                          const std::vector<HistoryExample>& histories, int held_out,
                                          const WrittenBy& by = {}) {
  const ShardPacking packing = by.packing;
  storage::ExamplesIndex index;
  index.set_kind(kHistories);
  index.set_compression(NameOf(packing));
  index.set_held_out(held_out);
  for (const std::string& feature : HistoryFeatures()) index.add_features(feature);
  index.set_features_sha256(HistoryFeaturesSha256());
  index.set_first_time("2020-01-01T00:00:00+00:00");
  index.set_last_time("2021-01-01T00:00:00+00:00");
  for (int f = 0; f < files; ++f) {
    std::string raw;
    int64_t count = 0, events = 0, targets = 0;
    for (size_t u = f; u < histories.size(); u += files) {
      if (by.left_out.contains(histories[u].user)) continue;
      (void)AppendUserRecord({kHistories, packing}, by.keys, histories[u].user, PrintHistory(histories[u]),
                             &raw);
      const int64_t trained = static_cast<int64_t>(histories[u].rows.size() - histories[u].held_out);
      ++count, events += trained, targets += trained - 1;
    }
    auto* file = index.add_files();
    *file = WriteShardFile(folder, absl::StrCat("examples-", f, EndingOf(packing)), packing, raw, count);
    file->set_events(events);
    file->set_targets(targets);
    index.set_examples(index.examples() + count);
    index.set_events(index.events() + events);
    index.set_targets(index.targets() + targets);
  }
  std::string raw;
  for (int64_t i = 0; i < items; ++i) {
    AppendRecord(PrintItem({absl::StrCat("item", i), by.content ? by.content(i) : std::vector<uint64_t>()}),
                 &raw);
  }
  *index.mutable_items() =
      WriteShardFile(folder, absl::StrCat("items", EndingOf(packing)), packing, raw, items);
  index.set_item_count(items);
  if (by.keys != nullptr) SealIndex(index.mutable_sealing());
  (void)WriteExamplesIndex(folder, index);
  index.set_format(by.keys != nullptr ? kSealedFormat : kPlainFormat);
  return index;
}

}  // namespace waymark::tests
