// The inside of a Catalog: its columns and the locks around them. For catalog/ alone.
//
// Locks, always taken in this order:
//   schema_mutex   one schema change at a time; held through scans of the store
//   apply_mutex    one writer of columns; held for a batch of changes, or for the bytes of one column
//   columns_lock   readers of columns beside short writes
// The store calls Apply on its committing thread, so nothing that waits for a commit is called under
// apply_mutex.
#pragma once
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "catalog/batch_lock.h"
#include "catalog/catalog.h"
#include "catalog/item_columns.h"

namespace waymark {

class Catalog::Impl {
 public:
  Impl(Store* store, Scope scope, std::shared_ptr<const Schema> schema);

  // --- catalog_loading.cc
  // From the checkpoint, else from the store; then the log's tail.
  absl::Status Load();
  absl::Status Checkpoint();
  int64_t replayed_changes() const { return replayed_changes_; }

  // --- catalog_check.cc
  absl::Status Check(PartCheck* check) const;
  const std::string& rebuild_reason() const { return rebuild_reason_; }

  // --- catalog_changes.cc
  void Apply(absl::Span<const Change> changes);
  bool WaitFor(LogOffset offset, absl::Time until) const;
  void SetPosition(LogOffset offset);
  // Makes `schema` the catalog's; fills new columns beside the live ones, then swaps. `all`: every column
  // anew.
  absl::Status Adopt(std::shared_ptr<const Schema> schema, bool all);
  absl::Status Declare(const storage::SchemaRecord& record);

  // Columns under a shared lock, for one read.
  class Reader {
   public:
    explicit Reader(const Impl& impl) : reading_(impl.columns_lock_), columns_(impl.columns_) {}
    const ItemColumns* operator->() const { return &columns_; }
    const ItemColumns& operator*() const { return columns_; }

   private:
    BatchLock::Reading reading_;
    const ItemColumns& columns_;
  };
  std::shared_ptr<const ItemSet> LiveItems(const ItemColumns& columns) const;
  LogOffset position() const { return position_.load(std::memory_order_acquire); }

 private:
  absl::Status LoadCheckpoint(std::shared_ptr<const Schema> stored);
  absl::Status Rebuild(std::shared_ptr<const Schema> schema);
  absl::Status ReplayTail();

  Store* const store_;
  const Scope scope_;
  const std::filesystem::path file_;  // of the checkpoint
  std::string rebuild_reason_;        // written while it is loaded, as is the next
  int64_t replayed_changes_ = 0;

  std::mutex schema_mutex_, apply_mutex_;
  mutable BatchLock columns_lock_;
  ItemColumns columns_;
  // While new columns are filled from the store: items that changed meanwhile, as they became.
  std::optional<absl::flat_hash_map<ItemOrdinal, storage::ItemRecord>> changed_meanwhile_;

  std::atomic<LogOffset> position_{0};
  mutable std::mutex position_mutex_;
  mutable std::condition_variable position_moved_;

  std::mutex checkpoint_mutex_;
  mutable std::mutex live_mutex_;
  mutable std::shared_ptr<const ItemSet> live_;
  mutable uint64_t live_made_at_ = 0;
};

}  // namespace waymark
