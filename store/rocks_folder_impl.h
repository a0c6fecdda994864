// The folder of a RocksDB as the store opens it: its families, how they are tuned, and whether it still takes
// writes. For the .cc files of this folder only.
//
//   std::shared_ptr<RocksFolder> folder;
//   rocksdb::Status status = RocksFolder::Open(data / "store", options, kEverySequence, folder);
#pragma once
#include <rocksdb/db.h>

#include <atomic>
#include <filesystem>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace waymark {

// The store's column families; keys in store/keys.h.
enum class Family {
  kMeta,     // format, epoch, signing key, end of the log, collections, counters, aliases, erasures under way
  kItems,    // ordinal -> ItemRecord
  kItemIds,  // text -> ordinal
  kItemNames,  // ordinal -> text, of ids that an event was the first to name
  kUsers,      // number -> UserRecord
  kUserIds,    // text -> number, number -> secret
  kUserLog,    // number + offset -> nothing: log entries that the history does not name
  kLog,        // offset -> LogEntry
  kEventIds,   // hash of the text -> offset
  kHistory,    // number + time + offset + place -> HistoryValue
  kRegistry,   // models, releases, activations, experiments, decisions, layers
  kExposures,  // experiment + unit -> ExposureRecord
};
inline constexpr std::string_view kStoreFamilies[] = {"default",   "items",    "item_ids", "item_names",
                                                      "users",     "user_ids", "user_log", "log",
                                                      "event_ids", "history",  "registry", "exposures"};
inline constexpr size_t kFamilies = std::size(kStoreFamilies);

struct DatabaseOptions {
  // Names in the order of the enumeration's values. (store/served_log.cc has its own.)
  absl::Span<const std::string_view> families = kStoreFamilies;
  bool create = true;
  bool read_only = false;
  size_t cache_bytes = 256 << 20;
  // Writes are refused when the disk has less free: so that RocksDB can still flush and compact, and seldom
  // meets a full disk itself. Of a small disk, a twentieth.
  uint64_t disk_reserve_bytes = 64 << 20;
  // Writes behind damage in the middle of the log are given up, with a line in the program's log. Else
  // opening fails.
  bool give_up_damaged_writes = false;
};

inline constexpr uint64_t kEverySequence = std::numeric_limits<uint64_t>::max();

// Thread-safe. Closed when the last owner lets go; whatever reads it must be gone by then.
class RocksFolder {
 public:
  // Of the log, only writes up to `last_sequence` are taken up again. A write that was cut off at the log's
  // end was never answered, and is passed over. Corruption: damage before writes that were.
  static rocksdb::Status Open(const std::filesystem::path& path, const DatabaseOptions& options,
                              uint64_t last_sequence, std::shared_ptr<RocksFolder>& opened);
  ~RocksFolder();
  RocksFolder(const RocksFolder&) = delete;

  rocksdb::DB* db() const { return db_.get(); }
  rocksdb::ColumnFamilyHandle* handle(Family family) const { return handles_[static_cast<size_t>(family)]; }
  // After a write or upkeep that failed, or when opened for reading alone: takes no more writes.
  bool stopped() const { return stopped_ || read_only_; }
  bool read_only() const { return read_only_; }
  void Stop() { stopped_ = true; }

 private:
  class ErrorListener;
  class KeptWrites;
  RocksFolder();
  static rocksdb::Status OpenOnce(const std::filesystem::path& path, const DatabaseOptions& options,
                                  uint64_t last_sequence, rocksdb::WALRecoveryMode mode,
                                  std::shared_ptr<RocksFolder>& opened);

  std::atomic<bool> stopped_ = false;
  bool read_only_ = false;
  std::unique_ptr<KeptWrites> kept_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace waymark
