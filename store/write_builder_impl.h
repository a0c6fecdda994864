// Turns the mutations of one group commit into one RocksDB batch. Runs on the leader of the commit queue
// alone, so it may decide: it resolves ids (giving out ordinals and numbers), finds duplicates, grows
// versions and gives out log offsets. What an earlier mutation of the same batch did is seen by the later
// ones.
//
// Nothing outside changes before the batch is on disk: the builder works on copies of the counters.
//
//   WriteBuilder builder(database, end, now);
//   builder.Apply(scope, mutation, result);   // an error here fails the whole group
//   database.Write(builder.Finish(), true);
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "store/change.h"
#include "store/database_impl.h"
#include "store/prepared_mutation.h"

namespace waymark {

// Of one collection; written with every batch, so they are exact after a crash.
struct Counters {
  int64_t items = 0, users = 0, events = 0;
  ItemOrdinal next_item = 0;
  UserNumber next_user = 1;
  std::string Encode() const;
  static absl::StatusOr<Counters> Decode(std::string_view bytes);
};

// Keys of the meta family.
std::string CountersKey(Scope scope);
std::string ErasureKey(Scope scope, UserNumber user);
inline constexpr std::string_view kErasurePrefix = "e";
inline constexpr std::string_view kEndKey = "!end";

class WriteBuilder {
 public:
  WriteBuilder(const Database& database, LogOffset end, absl::Time now)
      : database_(database), end_(end), now_us_(absl::ToUnixMicros(now)) {}

  // Before the first mutation of a scope: where its counters stand.
  bool Knows(Scope scope) const { return scopes_.contains(scope); }
  void Begin(Scope scope, const Counters& counters) { scopes_[scope].counters = counters; }

  // What is wrong with the mutation itself goes into `result`, and it leaves no trace in the batch. An error
  // that is returned comes from the disk.
  absl::Status Apply(Scope scope, PreparedMutation& mutation, MutationResult& result);
  bool empty() const { return changes_.empty(); }
  // The batch with the counters and the end of the log.
  Batch& Finish();

  LogOffset end() const { return end_; }
  std::vector<std::pair<Scope, Counters>> counters() const;
  // In log order, for the listeners.
  struct Run {
    Scope scope;
    std::vector<Change> changes;
  };
  std::vector<Run>& runs() { return changes_; }

 private:
  // What this batch changed in a collection.
  struct Line {  // a key of the history or of the user log, without its number
    Family family;
    std::string rest, value;
  };
  struct ScopeState {
    Scope scope;
    Counters counters;
    std::unordered_map<std::string, ItemOrdinal> item_ids;
    std::unordered_map<ItemOrdinal, storage::ItemRecord> items;
    std::unordered_map<std::string, UserNumber> user_ids;  // by key; 0: erased
    std::unordered_map<UserNumber, storage::UserRecord> users;
    std::unordered_set<std::string> event_ids;                        // by key
    std::unordered_map<UserNumber, std::vector<Line>> visitor_lines;  // of visitors not yet joined
  };

  // write_items.cc
  absl::Status PutItemFields(ScopeState& state, PutItem& put, MutationResult& result);
  absl::Status UpdateItemFields(ScopeState& state, const UpdateItem& update, MutationResult& result);
  absl::Status RemoveItem(ScopeState& state, const DeleteItem& remove, MutationResult& result);
  absl::StatusOr<std::optional<ItemOrdinal>> FindItem(ScopeState& state, const std::string& id);
  absl::StatusOr<std::optional<storage::ItemRecord>> LoadItem(ScopeState& state, ItemOrdinal item);
  // None: all ordinals are given out.
  std::optional<ItemOrdinal> AddItem(ScopeState& state, const std::string& id);
  absl::StatusOr<std::optional<ItemOrdinal>> FindOrNameItem(ScopeState& state, const std::string& id);
  void StoreItem(ScopeState& state, ItemOrdinal item, storage::ItemRecord record,
                 const storage::ItemRecord* before);

  // write_users.cc
  absl::Status PutUserFields(ScopeState& state, PutUser& put, MutationResult& result);
  absl::Status UpdateUserFields(ScopeState& state, const UpdateUser& update, MutationResult& result);
  absl::Status EraseUser(ScopeState& state, const DeleteUser& erase, MutationResult& result);
  absl::StatusOr<UserNumber> FindUser(ScopeState& state, bool visitor, const std::string& id);  // 0: none
  absl::StatusOr<storage::UserRecord*> LoadUser(ScopeState& state, UserNumber user);
  absl::StatusOr<UserNumber> FindOrAddUser(ScopeState& state, bool visitor, const std::string& id);
  void StoreUser(ScopeState& state, UserNumber user);
  void LogUser(ScopeState& state, UserNumber user);
  absl::Status Join(ScopeState& state, UserNumber user, UserNumber visitor);
  absl::Status MoveLines(ScopeState& state, Family family, UserNumber from, UserNumber to);

  // write_events.cc
  absl::Status AddEvent(ScopeState& state, PreparedEvent& event, MutationResult& result);
  absl::StatusOr<bool> IsDuplicate(ScopeState& state, const PreparedEvent& event, const std::string& key);
  absl::StatusOr<UserNumber> ResolveOwner(ScopeState& state, PreparedEvent& event);
  void AddLine(ScopeState& state, UserNumber owner, bool unjoined_visitor, Line line);
  void AddHistory(ScopeState& state, UserNumber owner, bool unjoined_visitor,
                  const storage::EventRecord& record, LogOffset offset);

  storage::LogEntry& Append(ScopeState& state);  // the next entry of the log, to be filled
  void WriteLast(ScopeState& state);             // puts it into the batch

  const Database& database_;
  LogOffset end_;
  int64_t now_us_;
  Batch batch_;
  absl::flat_hash_map<Scope, ScopeState> scopes_;
  std::vector<Run> changes_;
};

}  // namespace waymark
