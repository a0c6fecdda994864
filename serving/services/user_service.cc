#include "serving/services/user_service.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "serving/list_page.h"
#include "serving/services/collection_access.h"
#include "serving/services/item_messages.h"
#include "serving/services/user_state_message.h"
#include "serving/services/write_batch.h"
#include "serving/status_details.h"
#include "waymark/v1/user.pb.h"

namespace waymark {
namespace {

constexpr MethodOptions kUserBatch = {
    .max_request_bytes = size_t{16} << 20, .lane = Lane::kWrite, .default_deadline = kBatchDeadline};

absl::Status NoUser(const Collection& collection, const std::string& id) {
  return WithReason(
      absl::NotFoundError(absl::StrCat("there is no user ", FormatResource(collection.name(), "users", id))),
      "USER_NOT_FOUND");
}

template <class Response>
absl::Status CommitUsers(Engine* engine, Collection* collection, WriteBatch batch, Response* response) {
  auto outcome = batch.Commit(collection, engine->store().EndPosition());
  if (!outcome.ok()) return outcome.status();
  outcome->Fill(response->mutable_results());
  response->set_consistency_token(outcome->consistency_token);
  return absl::OkStatus();
}

absl::Status PutUsers(Engine* engine, const v1::PutUsersRequest& request, v1::PutUsersResponse* response) {
  if (auto status = CheckBatchSize(request.users_size(), "users"); !status.ok()) return status;
  auto collection = OpenForWrite(engine, request.parent());
  if (!collection.ok()) return collection.status();
  WriteBatch batch;
  for (const v1::User& user : request.users()) batch.Add(user.id(), PutOf(user));
  return CommitUsers(engine, *collection, std::move(batch), response);
}

absl::Status UpdateUsers(Engine* engine, const v1::UpdateUsersRequest& request,
                         v1::UpdateUsersResponse* response) {
  if (auto status = CheckBatchSize(request.updates_size(), "updates"); !status.ok()) return status;
  auto collection = OpenForWrite(engine, request.parent());
  if (!collection.ok()) return collection.status();
  WriteBatch batch;
  for (const v1::UserUpdate& update : request.updates()) batch.Add(update.user().id(), UpdateOf(update));
  return CommitUsers(engine, *collection, std::move(batch), response);
}

absl::Status GetUser(Engine* engine, const v1::GetUserRequest& request, v1::User* response,
                     const CallContext& context) {
  auto name = ParseResource(request.name(), "users", "name");
  if (!name.ok()) return name.status();
  auto collection = OpenForRead(engine, name->collection, request.consistency_token(), context);
  if (!collection.ok()) return collection.status();
  const Scope scope = (*collection)->scope();
  const auto number = engine->store().FindUser(scope, name->id);
  if (!number) return NoUser(**collection, name->id);
  auto record = engine->store().GetUser(scope, *number);
  if (absl::IsNotFound(record.status())) return NoUser(**collection, name->id);
  if (!record.ok()) return record.status();
  ToMessage((*collection)->name(), *record, response);
  return absl::OkStatus();
}

absl::Status ListUsers(Engine* engine, const v1::ListUsersRequest& request, v1::ListUsersResponse* response,
                       const CallContext& context) {
  auto size = ReadPageSize(request.page_size());
  if (!size.ok()) return size.status();
  const ListArguments arguments = {"ListUsers", request.parent()};
  auto place = ReadListToken(request.page_token(), arguments);
  if (!place.ok()) return place.status();
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  size_t bytes = 0;
  std::optional<UserNumber> next;
  auto status = engine->store().ForEachUser(
      (*collection)->scope(), place->first, [&](UserNumber number, const storage::UserRecord& record) {
        // Visitors have no attributes of their own; they are part of the users' state.
        if (record.visitor() || record.deleted()) return true;
        bytes += record.ByteSizeLong();
        if (response->users_size() >= *size || (response->users_size() > 0 && bytes > kMaxListPageBytes)) {
          next = number;
          return false;
        }
        ToMessage((*collection)->name(), record, response->add_users());
        return true;
      });
  if (!status.ok()) return status;
  if (next) response->set_next_page_token(MakeListToken({.first = *next}, arguments));
  return absl::OkStatus();
}

absl::Status GetUserState(Engine* engine, const v1::GetUserStateRequest& request, v1::UserState* response,
                          const CallContext& context) {
  auto limit = ReadPageSize(request.history_limit(), "history_limit");
  if (!limit.ok()) return limit.status();
  // HTTP's path always has a user's segment: `-` stands for none beside a visitor.
  const std::string& visitor_id = request.visitor_id();
  const std::string user_id = request.user_id() == "-" && !visitor_id.empty() ? "" : request.user_id();
  if (user_id.empty() == visitor_id.empty()) {
    return InvalidField(
        "user_id",
        "takes a user's id, or `visitor_id` a visitor's (and, in a path, the user `-`); exactly "
        "one of both");
  }
  auto collection = OpenForRead(engine, request.parent(), request.consistency_token(), context);
  if (!collection.ok()) return collection.status();
  const Scope scope = (*collection)->scope();
  const Store& store = engine->store();
  const auto number = user_id.empty() ? store.FindVisitor(scope, visitor_id) : store.FindUser(scope, user_id);
  if (!number) {
    return WithReason(
        absl::NotFoundError(user_id.empty() ? absl::StrCat("nothing is known of visitor '", visitor_id, "'")
                                            : absl::StrCat("nothing is known of user '", user_id, "'")),
        "USER_NOT_FOUND");
  }
  return FillUserState(store, scope, *number, static_cast<size_t>(*limit), response);
}

absl::Status Erase(Engine* engine, ExperimentHost* host, const v1::DeleteUserRequest& request,
                   v1::DeleteUserResponse* response, const CallContext& context) {
  auto name = ParseResource(request.name(), "users", "name");
  if (!name.ok()) return name.status();
  auto collection = OpenForRead(engine, name->collection, "", context);
  if (!collection.ok()) return collection.status();
  WriteBatch batch;
  batch.Add(name->id, Mutation(DeleteUser{name->id}));
  auto outcome = batch.Commit(*collection, engine->store().EndPosition());
  if (!outcome.ok()) return outcome.status();
  if (const absl::Status& status = outcome->entries.front().status; !status.ok()) {
    return absl::IsNotFound(status) ? NoUser(**collection, name->id) : status;
  }
  // The log's erasure takes the user and its visitors out of experiments too, but a little later.
  auto hosted = host->Open(*collection);
  if (!hosted.ok()) return hosted.status();
  if (auto status = (*hosted)->experiments->Forget("u:" + name->id); !status.ok()) return status;
  response->set_consistency_token(outcome->consistency_token);
  return absl::OkStatus();
}

}  // namespace

void RegisterUsers(Engine* engine, ExperimentHost* host, MethodRegistry* registry) {
  const std::string service = "waymark.v1.UserService.";
  registry->Add<v1::PutUsersRequest, v1::PutUsersResponse>(
      service + "PutUsers", kUserBatch,
      [engine](const auto& q, auto* r, const CallContext&) { return PutUsers(engine, q, r); });
  registry->Add<v1::UpdateUsersRequest, v1::UpdateUsersResponse>(
      service + "UpdateUsers", kUserBatch,
      [engine](const auto& q, auto* r, const CallContext&) { return UpdateUsers(engine, q, r); });
  registry->Add<v1::GetUserRequest, v1::User>(
      service + "GetUser", {},
      [engine](const auto& q, auto* r, const CallContext& c) { return GetUser(engine, q, r, c); });
  registry->Add<v1::ListUsersRequest, v1::ListUsersResponse>(
      service + "ListUsers", {},
      [engine](const auto& q, auto* r, const CallContext& c) { return ListUsers(engine, q, r, c); });
  registry->Add<v1::GetUserStateRequest, v1::UserState>(
      service + "GetUserState", {},
      [engine](const auto& q, auto* r, const CallContext& c) { return GetUserState(engine, q, r, c); });
  // Erasure rewrites what the log holds of the user.
  registry->Add<v1::DeleteUserRequest, v1::DeleteUserResponse>(
      service + "DeleteUser", {.lane = Lane::kBulk},
      [engine, host](const auto& q, auto* r, const CallContext& c) { return Erase(engine, host, q, r, c); });
}

}  // namespace waymark
