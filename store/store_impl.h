// What a Store holds; the methods of Store lie by subject in store_*.cc. For the .cc files of this folder
// only.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "store/commit_queue.h"
#include "store/database_impl.h"
#include "store/keys.h"
#include "store/store.h"
#include "store/write_builder_impl.h"

namespace waymark {

// Keys of the meta family. The first byte tells the kind: '!' the folder's own, 'c' a collection, 'n' its
// counters, 'a' an alias, 'e' an erasure under way.
inline constexpr std::string_view kFormatKey = "!format";
inline constexpr std::string_view kEpochKey = "!epoch";
inline constexpr std::string_view kSigningKeyKey = "!signing_key";
// 2: every user has a secret, which a program of format 1 would not remove with its user.
inline constexpr uint32_t kStoreFormat = 2;

class Store::Impl {
 public:
  Impl(std::filesystem::path data, const StoreOptions& options);

  // store.cc
  absl::Status Open();
  absl::Status ReadFolder();
  absl::Status MakeFolder();
  absl::Status MakeFormat2();

  // store_collections.cc
  struct Collection {
    storage::CollectionRecord record;
    std::shared_ptr<const EventTypes> types;
    Counters counters;
  };
  absl::Status ReadCollections();
  // Null when there is no such collection.
  const Collection* Find(Scope scope) const;  // under a lock of collections_mutex
  absl::StatusOr<std::shared_ptr<const EventTypes>> Types(Scope scope) const;
  absl::Status PutMeta(std::string_view key, const google::protobuf::MessageLite& record);

  // store_write.cc
  struct PendingWrite;
  void CommitGroup(absl::Span<CommitQueue::Entry* const> group);
  absl::Status BuildGroup(absl::Span<CommitQueue::Entry* const> group, WriteBuilder& builder);
  void Publish(WriteBuilder& builder);
  std::string MakeEventId();
  absl::Status CheckWritable() const;
  void FinishErasuresOf(PendingWrite& write);

  const std::filesystem::path data;
  const StoreOptions options;
  std::unique_ptr<Database> database;
  uint64_t epoch = 0;
  uint32_t format = kStoreFormat;
  std::string signing_key;

  // Collections and their counters as they are on disk.
  mutable std::shared_mutex collections_mutex;
  std::map<Scope, Collection> collections;
  std::map<std::pair<std::string, std::string>, Scope> names;          // tenant, collection
  std::map<std::pair<std::string, std::string>, std::string> aliases;  // tenant, alias -> collection
  // One maker of collections, aliases, registry entries at a time.
  std::mutex registry_mutex;

  std::atomic<LogOffset> end = 0;
  std::vector<ChangeListener> listeners;
  CommitQueue queue;
  std::mutex erasure_mutex;
  std::string event_id_seed;  // of this process, so that made ids never meet
  std::atomic<uint64_t> made_event_ids = 0;
};

}  // namespace waymark
