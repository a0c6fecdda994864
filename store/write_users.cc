// Users and visitors in a batch: numbers, attributes, joins, the first step of an erasure.
#include "absl/strings/str_cat.h"
#include "store/keys.h"
#include "store/struct_fields.h"
#include "store/text_check.h"
#include "store/user_secrets_impl.h"
#include "store/write_builder_impl.h"

namespace waymark {

absl::StatusOr<UserNumber> WriteBuilder::FindUser(ScopeState& state, bool visitor, const std::string& id) {
  std::string key = UserIdKey(state.scope, visitor, id);
  if (auto found = state.user_ids.find(key); found != state.user_ids.end()) return found->second;
  auto value = database_.Get(Family::kUserIds, key);
  if (!value.ok()) return value.status();
  if (!value->has_value()) return UserNumber{0};
  if ((*value)->size() != 8) return absl::DataLossError("an entry of the user ids cannot be read");
  const UserNumber user = ReadBigEndian64(**value);
  state.user_ids[std::move(key)] = user;
  return user;
}

absl::StatusOr<storage::UserRecord*> WriteBuilder::LoadUser(ScopeState& state, UserNumber user) {
  if (auto found = state.users.find(user); found != state.users.end()) return &found->second;
  storage::UserRecord record;
  absl::Status status =
      database_.GetRecord(Family::kUsers, UserKey(state.scope, user), "user record", record);
  // The id map named it: its record is there.
  if (absl::IsNotFound(status)) return absl::DataLossError("a user's record is missing");
  if (!status.ok()) return status;
  return &(state.users[user] = std::move(record));
}

absl::StatusOr<UserNumber> WriteBuilder::FindOrAddUser(ScopeState& state, bool visitor,
                                                       const std::string& id) {
  auto found = FindUser(state, visitor, id);
  if (!found.ok() || *found != 0) return found;
  const UserNumber user = state.counters.next_user++;
  ++state.counters.users;
  std::string key = UserIdKey(state.scope, visitor, id), value;
  AppendBigEndian64(value, user);
  database_.Put(batch_, Family::kUserIds, key, value);
  state.user_ids[std::move(key)] = user;
  database_.Put(batch_, Family::kUserIds, UserSecretKey(state.scope, user), NewUserSecret());
  storage::UserRecord& record = state.users[user];
  record.set_id(id);
  record.set_visitor(visitor);
  record.set_create_time_us(now_us_);
  record.set_update_time_us(now_us_);
  StoreUser(state, user);
  return user;
}

void WriteBuilder::StoreUser(ScopeState& state, UserNumber user) {
  database_.Put(batch_, Family::kUsers, UserKey(state.scope, user), state.users[user]);
}

void WriteBuilder::LogUser(ScopeState& state, UserNumber user) {
  storage::UserRecord& record = state.users[user];
  record.set_version(record.version() + 1);
  record.set_update_time_us(now_us_);
  StoreUser(state, user);
  storage::UserChange& change = *Append(state).mutable_user();
  change.set_user(user);
  *change.mutable_record() = record;
  WriteLast(state);
  database_.Put(batch_, Family::kUserLog, UserLogKey(state.scope, user, end_), std::string_view());
}

absl::Status WriteBuilder::PutUserFields(ScopeState& state, PutUser& put, MutationResult& result) {
  auto user = FindOrAddUser(state, false, put.id);
  if (!user.ok()) return user.status();
  auto record = LoadUser(state, *user);
  if (!record.ok()) return record.status();
  *(*record)->mutable_fields() = std::move(put.fields);
  LogUser(state, *user);
  result.version = (*record)->version();
  return absl::OkStatus();
}

absl::Status WriteBuilder::UpdateUserFields(ScopeState& state, const UpdateUser& update,
                                            MutationResult& result) {
  auto user = FindUser(state, false, update.id);
  if (!user.ok()) return user.status();
  if (*user == 0) {
    result.status = absl::NotFoundError(absl::StrCat("there is no user '", Shortened(update.id), "'"));
    return absl::OkStatus();
  }
  auto record = LoadUser(state, *user);
  if (!record.ok()) return record.status();
  result.version = (*record)->version();
  if (update.expected_version != 0 && update.expected_version != result.version) {
    result.status = absl::AbortedError(absl::StrCat("user '", Shortened(update.id), "' is at version ",
                                                    result.version, ", not at expected_version ",
                                                    update.expected_version, ": read it again"));
    return absl::OkStatus();
  }
  google::protobuf::Struct fields = (*record)->fields();
  ApplyPaths(update.fields, update.paths, &fields);
  result.status = CheckFields("user.fields with this update", fields);
  if (!result.status.ok()) return absl::OkStatus();
  *(*record)->mutable_fields() = std::move(fields);
  LogUser(state, *user);
  result.version = (*record)->version();
  return absl::OkStatus();
}

absl::Status WriteBuilder::Join(ScopeState& state, UserNumber user, UserNumber visitor) {
  auto loaded = LoadUser(state, visitor);
  if (!loaded.ok()) return loaded.status();
  const UserNumber before = (*loaded)->joined_to();
  if (before == user) return absl::OkStatus();
  if (before == 0) {
    --state.counters.users;  // one person less than thought
    for (Family family : {Family::kHistory, Family::kUserLog}) {
      if (absl::Status status = MoveLines(state, family, visitor, user); !status.ok()) return status;
    }
    for (Line& line : state.visitor_lines[visitor]) {
      database_.Delete(batch_, line.family, UserKey(state.scope, visitor) + line.rest);
      database_.Put(batch_, line.family, UserKey(state.scope, user) + line.rest, line.value);
    }
    state.visitor_lines.erase(visitor);
  } else {
    // What the visitor did so far was the other user's and stays there.
    auto other = LoadUser(state, before);
    if (!other.ok()) return other.status();
    auto& joined = *(*other)->mutable_joined_visitors();
    joined.erase(std::remove(joined.begin(), joined.end(), visitor), joined.end());
    StoreUser(state, before);
    // Nor must what was sealed for the visitor outlive the other user, who takes no notice of it any more.
    database_.Delete(batch_, Family::kUserIds, UserSecretKey(state.scope, visitor));
  }
  state.users[visitor].set_joined_to(user);
  StoreUser(state, visitor);
  auto owner = LoadUser(state, user);
  if (!owner.ok()) return owner.status();
  (*owner)->add_joined_visitors(visitor);
  StoreUser(state, user);
  return absl::OkStatus();
}

absl::Status WriteBuilder::MoveLines(ScopeState& state, Family family, UserNumber from, UserNumber to) {
  const std::string old_prefix = UserKey(state.scope, from), new_prefix = UserKey(state.scope, to);
  auto lines = database_.Walk(family, old_prefix);
  for (; lines->Valid(); lines->Next()) {
    std::string key = new_prefix;
    key += lines->key().substr(old_prefix.size());
    database_.Put(batch_, family, key, lines->value());
    database_.Delete(batch_, family, lines->key());
  }
  return database_.Check(lines->status());
}

// The first step of an erasure, in one batch: ids, attributes and secrets are gone, and a note says what is
// still to be cleaned (store/erasure_impl.h).
absl::Status WriteBuilder::EraseUser(ScopeState& state, const DeleteUser& erase, MutationResult& /*result*/) {
  auto user = FindUser(state, false, erase.id);
  if (!user.ok()) return user.status();
  if (*user == 0) return absl::OkStatus();  // done already
  auto record = LoadUser(state, *user);
  if (!record.ok()) return record.status();
  std::vector<UserNumber> numbers = {*user};
  numbers.insert(numbers.end(), (*record)->joined_visitors().begin(), (*record)->joined_visitors().end());
  std::string note;
  for (UserNumber number : numbers) {
    AppendBigEndian64(note, number);
    auto named = LoadUser(state, number);
    if (!named.ok()) return named.status();
    std::string key = UserIdKey(state.scope, (*named)->visitor(), (*named)->id());
    database_.Delete(batch_, Family::kUserIds, key);
    state.user_ids[std::move(key)] = 0;
    database_.Delete(batch_, Family::kUsers, UserKey(state.scope, number));
    database_.Delete(batch_, Family::kUserIds, UserSecretKey(state.scope, number));
    state.users.erase(number);
    Append(state).mutable_erasure()->set_user(number);
    WriteLast(state);
  }
  --state.counters.users;
  database_.Put(batch_, Family::kMeta, ErasureKey(state.scope, *user), note);
  return absl::OkStatus();
}

}  // namespace waymark
