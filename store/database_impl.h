// RocksDB as the store uses it: reads and writes, what its errors mean to us, and how it goes on after a full
// disk. For the .cc files of this folder only.
//
//   auto database = Database::Open(data / "store", {});
//   Batch batch;
//   (*database)->Put(batch, Family::kItems, key, record);
//   (*database)->Write(batch, {.sync = true});
#pragma once
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "google/protobuf/message_lite.h"
#include "store/rocks_folder_impl.h"

namespace waymark {

std::string_view ToView(const rocksdb::Slice& slice);
rocksdb::Slice ToSlice(std::string_view view);
// `where` is the folder: it is named, with the remedy.
absl::Status FromRocks(const rocksdb::Status& status, const std::filesystem::path& where);
// DATA_LOSS when `bytes` are no such message. Takes deeper nesting than protobuf's default of 100 messages,
// since a field nested 32 deep is three messages a level.
absl::Status ParseRecord(std::string_view bytes, std::string_view what,
                         google::protobuf::MessageLite& record);

// Writes that go in together. Filled by Database::Put and Delete.
class Batch {
 public:
  size_t Count() const { return static_cast<size_t>(writes_.Count()); }
  size_t bytes() const { return writes_.GetDataSize(); }

 private:
  friend class Database;
  rocksdb::WriteBatch writes_;
  bool incomplete_ = false;  // something could not be added
};

// What the database held at one moment. Keeps it open: see Database::Write.
class View {
 public:
  explicit View(std::shared_ptr<RocksFolder> folder);
  ~View();
  View(const View&) = delete;

 private:
  friend class Database;
  std::shared_ptr<RocksFolder> folder_;
  const rocksdb::Snapshot* snapshot_ = nullptr;
};

// A walk over the keys in [begin, end) of one family, as of its creation. Keeps the database open: see
// Database::Write.
class KeyRange {
 public:
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
  friend class Database;
  explicit KeyRange(const rocksdb::Status& error);
  KeyRange(std::shared_ptr<RocksFolder> folder, Family family, std::string begin, std::string end,
           const rocksdb::Snapshot* snapshot, bool scan);

  std::shared_ptr<RocksFolder> folder_;
  std::string begin_, end_;
  rocksdb::Slice lower_, upper_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

// Thread-safe.
class Database {
 public:
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::filesystem::path& folder,
                                                        const DatabaseOptions& options);
  Database(const Database&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

  // None: no such key.
  absl::StatusOr<std::optional<std::string>> Get(Family family, std::string_view key) const;
  // NOT_FOUND says `what` is missing.
  absl::Status GetRecord(Family family, std::string_view key, std::string_view what,
                         google::protobuf::MessageLite& record) const;
  // One status and value a key.
  void MultiGet(Family family, absl::Span<const rocksdb::Slice> keys, rocksdb::PinnableSlice* values,
                rocksdb::Status* statuses) const;
  // All keys in [begin, end), at the first; no `end`: to the last. `scan`: a long walk, which leaves the
  // cache to others.
  std::unique_ptr<KeyRange> Walk(Family family, std::string begin, std::string end, bool scan,
                                 const View* view = nullptr) const;
  // All keys with `prefix`.
  std::unique_ptr<KeyRange> Walk(Family family, std::string prefix, bool scan = false,
                                 const View* view = nullptr) const;
  View Now() const { return View(Use()); }
  absl::Status Check(const rocksdb::Status& status) const { return FromRocks(status, folder_); }

  void Put(Batch& batch, Family family, std::string_view key, std::string_view value) const;
  void Put(Batch& batch, Family family, std::string_view key,
           const google::protobuf::MessageLite& record) const;
  void Delete(Batch& batch, Family family, std::string_view key) const;
  // All of the batch or nothing. RESOURCE_EXHAUSTED: the disk is full. When there is room again the next
  // write goes through, once no walk or view of before is left, for which it waits a second.
  absl::Status Write(Batch& batch, bool sync);

  // Writes all buffers to files.
  absl::Status Flush();
  // Reads every block of every file against its checksum.
  absl::Status VerifyChecksums() const;
  // A copy of the whole at `path`, which must not exist yet, by links where the file system has them.
  absl::Status Checkpoint(const std::filesystem::path& path) const;
  // Removes the files that hold nothing but keys in [begin, end).
  absl::Status DeleteFiles(Family family, std::string_view begin, std::string_view end);

 private:
  using Time = std::chrono::steady_clock::time_point;

  Database(std::filesystem::path folder, const DatabaseOptions& options)
      : folder_(std::move(folder)), options_(options) {}
  absl::Status Open();
  // Null when neither writing nor reading could be taken up again.
  std::shared_ptr<RocksFolder> Use() const;
  rocksdb::Status Closed() const;
  absl::Status Reopen();
  absl::Status ReopenAlone();
  absl::Status CheckRoom(uint64_t bytes, uint64_t reserve) const;

  const std::filesystem::path folder_;
  DatabaseOptions options_;
  uint64_t reserve_bytes_ = 0;
  mutable std::mutex open_mutex_;  // of open_; held while nobody may use it
  std::shared_ptr<RocksFolder> open_;
  std::mutex reopen_mutex_;  // of all below
  std::optional<Time> failed_;
  absl::Status failure_;
  uint64_t last_sequence_ = 0;
};

}  // namespace waymark
