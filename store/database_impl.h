// RocksDB as the store uses it: which column families there are, how they are tuned, what its errors mean to
// us, and how it goes on after a full disk. For the .cc files of this folder only.
//
//   auto database = Database::Open(data / "store", {});
//   rocksdb::WriteBatch batch;
//   (*database)->Put(batch, Family::kItems, key, record);
//   (*database)->Write(batch, {.sync = true});
#pragma once
#include <rocksdb/db.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "google/protobuf/message_lite.h"

namespace waymark {

// The store's column families; keys in store/keys.h.
enum class Family {
  kMeta,     // format, epoch, signing key, end of the log, collections, counters, aliases, erasures under way
  kItems,    // ordinal -> ItemRecord
  kItemIds,  // text -> ordinal
  kItemNames,  // ordinal -> text, of ids that an event was the first to name
  kUsers,      // number -> UserRecord
  kUserIds,    // text -> number
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
};

std::string_view ToView(const rocksdb::Slice& slice);
rocksdb::Slice ToSlice(std::string_view view);
// `where` is the folder: it is named, with the remedy.
absl::Status FromRocks(const rocksdb::Status& status, const std::filesystem::path& where);
// DATA_LOSS when `bytes` are no such message. Takes deeper nesting than protobuf's default of 100 messages,
// since a field nested 32 deep is three messages a level.
absl::Status ParseRecord(std::string_view bytes, std::string_view what,
                         google::protobuf::MessageLite& record);

// A walk over the keys in [begin, end) of one family, as of its creation.
class KeyRange {
 public:
  KeyRange(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, std::string begin, std::string end,
           const rocksdb::Snapshot* snapshot, bool scan);
  bool Valid() const { return iterator_->Valid(); }
  void Next() { iterator_->Next(); }
  void Prev() { iterator_->Prev(); }
  void SeekFirst() { iterator_->SeekToFirst(); }
  void SeekLast() { iterator_->SeekToLast(); }
  void Seek(std::string_view key) { iterator_->Seek(ToSlice(key)); }
  std::string_view key() const { return ToView(iterator_->key()); }
  std::string_view value() const { return ToView(iterator_->value()); }
  rocksdb::Status status() const { return iterator_->status(); }

 private:
  std::string begin_, end_;
  rocksdb::Slice lower_, upper_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

// Thread-safe.
class Database {
 public:
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::filesystem::path& folder,
                                                        const DatabaseOptions& options);
  ~Database();
  Database(const Database&) = delete;

  rocksdb::DB* db() const { return db_.get(); }
  rocksdb::ColumnFamilyHandle* handle(Family family) const { return handles_[static_cast<size_t>(family)]; }
  const std::filesystem::path& folder() const { return folder_; }

  // None: no such key.
  absl::StatusOr<std::optional<std::string>> Get(Family family, std::string_view key) const;
  // NOT_FOUND says `what` is missing.
  absl::Status GetRecord(Family family, std::string_view key, std::string_view what,
                         google::protobuf::MessageLite& record) const;
  // All keys with `prefix`, at their first. `scan`: a long walk, which leaves the cache to others.
  std::unique_ptr<KeyRange> Walk(Family family, std::string prefix, bool scan = false,
                                 const rocksdb::Snapshot* snapshot = nullptr) const;
  absl::Status Check(const rocksdb::Status& status) const { return FromRocks(status, folder_); }

  void Put(rocksdb::WriteBatch& batch, Family family, std::string_view key, std::string_view value) const;
  void Put(rocksdb::WriteBatch& batch, Family family, std::string_view key,
           const google::protobuf::MessageLite& record) const;
  void Delete(rocksdb::WriteBatch& batch, Family family, std::string_view key) const;
  // All of the batch or nothing. RESOURCE_EXHAUSTED: the disk is full; writes work again when there is room.
  absl::Status Write(rocksdb::WriteBatch& batch, bool sync);

 private:
  class ErrorListener;
  explicit Database(std::filesystem::path folder) : folder_(std::move(folder)) {}
  absl::Status OpenFamilies(const DatabaseOptions& options);
  absl::Status Resume();
  absl::Status CheckRoom(uint64_t bytes) const;
  void Anchor();

  std::filesystem::path folder_;
  std::shared_ptr<ErrorListener> errors_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::mutex resume_;
  uint64_t reserve_bytes_ = 0;
};

}  // namespace waymark
