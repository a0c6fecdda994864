#include "store/write_builder_impl.h"

#include "store/keys.h"

namespace waymark {

std::string Counters::Encode() const {
  std::string bytes;
  AppendBigEndian64(bytes, static_cast<uint64_t>(items));
  AppendBigEndian64(bytes, static_cast<uint64_t>(users));
  AppendBigEndian64(bytes, static_cast<uint64_t>(events));
  AppendBigEndian64(bytes, next_item);
  AppendBigEndian64(bytes, next_user);
  return bytes;
}

absl::StatusOr<Counters> Counters::Decode(std::string_view bytes) {
  if (bytes.size() != 40) return absl::DataLossError("a collection's counters cannot be read");
  Counters counters;
  counters.items = static_cast<int64_t>(ReadBigEndian64(bytes));
  counters.users = static_cast<int64_t>(ReadBigEndian64(bytes.substr(8)));
  counters.events = static_cast<int64_t>(ReadBigEndian64(bytes.substr(16)));
  counters.next_item = static_cast<ItemOrdinal>(ReadBigEndian64(bytes.substr(24)));
  counters.next_user = ReadBigEndian64(bytes.substr(32));
  return counters;
}

std::string CountersKey(Scope scope) { return std::string("n").append(ScopeKey(scope)); }

std::string ErasureKey(Scope scope, UserNumber user) {
  return std::string(kErasurePrefix).append(UserKey(scope, user));
}

absl::Status WriteBuilder::Apply(Scope scope, PreparedMutation& mutation, MutationResult& result) {
  struct Visitor {
    WriteBuilder& builder;
    ScopeState& state;
    MutationResult& result;
    absl::Status operator()(PutItem& m) const { return builder.PutItemFields(state, m, result); }
    absl::Status operator()(UpdateItem& m) const { return builder.UpdateItemFields(state, m, result); }
    absl::Status operator()(DeleteItem& m) const { return builder.RemoveItem(state, m, result); }
    absl::Status operator()(PutUser& m) const { return builder.PutUserFields(state, m, result); }
    absl::Status operator()(UpdateUser& m) const { return builder.UpdateUserFields(state, m, result); }
    absl::Status operator()(DeleteUser& m) const { return builder.EraseUser(state, m, result); }
    absl::Status operator()(PreparedEvent& m) const { return builder.AddEvent(state, m, result); }
  };
  ScopeState& state = scopes_[scope];
  state.scope = scope;
  return std::visit(Visitor{*this, state, result}, mutation);
}

Batch& WriteBuilder::Finish() {
  std::string end;
  AppendBigEndian64(end, end_);
  database_.Put(batch_, Family::kMeta, kEndKey, end);
  for (const auto& [scope, state] : scopes_) {
    database_.Put(batch_, Family::kMeta, CountersKey(scope), state.counters.Encode());
  }
  return batch_;
}

std::vector<std::pair<Scope, Counters>> WriteBuilder::counters() const {
  std::vector<std::pair<Scope, Counters>> all;
  for (const auto& [scope, state] : scopes_) all.emplace_back(scope, state.counters);
  return all;
}

storage::LogEntry& WriteBuilder::Append(ScopeState& state) {
  if (changes_.empty() || changes_.back().scope != state.scope) changes_.push_back({state.scope, {}});
  Change& change = changes_.back().changes.emplace_back();
  change.offset = ++end_;
  return change.entry;
}

void WriteBuilder::WriteLast(ScopeState& state) {
  const Change& change = changes_.back().changes.back();
  database_.Put(batch_, Family::kLog, LogKey(state.scope, change.offset), change.entry);
}

}  // namespace waymark
