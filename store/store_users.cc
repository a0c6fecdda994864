// Reading users and events.
#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"
#include "store/store_impl.h"

namespace waymark {
namespace {

std::optional<UserNumber> FindNumber(const Database& database, const std::string& key) {
  auto value = database.Get(Family::kUserIds, key);
  if (!value.ok()) spdlog::error("the store cannot be read: {}", value.status().ToString());
  if (!value.ok() || !value->has_value() || (*value)->size() != 8) return std::nullopt;
  return ReadBigEndian64(**value);
}

}  // namespace

std::optional<UserNumber> Store::FindUser(Scope scope, std::string_view user_id) const {
  return FindNumber(*impl_->database, UserIdKey(scope, false, user_id));
}

std::optional<UserNumber> Store::FindVisitor(Scope scope, std::string_view visitor_id) const {
  return FindNumber(*impl_->database, UserIdKey(scope, true, visitor_id));
}

absl::StatusOr<storage::UserRecord> Store::GetUser(Scope scope, UserNumber user) const {
  storage::UserRecord record;
  absl::Status status =
      impl_->database->GetRecord(Family::kUsers, UserKey(scope, user), "user record", record);
  if (absl::IsNotFound(status)) {
    return absl::NotFoundError(absl::StrCat("there is no user with number ", user));
  }
  if (!status.ok()) return status;
  return record;
}

absl::StatusOr<std::string> Store::UserSecret(Scope scope, UserNumber user) const {
  auto secret = impl_->database->Get(Family::kUserIds, UserSecretKey(scope, user));
  if (!secret.ok()) return secret.status();
  if (!secret->has_value()) {
    return absl::NotFoundError(absl::StrCat("there is no secret of a user with number ", user));
  }
  return **std::move(secret);
}

absl::Status Store::ForEachUser(
    Scope scope, UserNumber first,
    const std::function<bool(UserNumber, const storage::UserRecord&)>& visit) const {
  const auto walk =
      impl_->database->Walk(Family::kUsers, UserKey(scope, first), PrefixEnd(ScopeKey(scope)), true);
  storage::UserRecord record;
  for (; walk->Valid(); walk->Next()) {
    if (absl::Status status = ParseRecord(walk->value(), "user record", record); !status.ok()) return status;
    if (!visit(UserOfKey(walk->key()), record)) return absl::OkStatus();
  }
  return impl_->database->Check(walk->status());
}

absl::StatusOr<storage::EventRecord> Store::GetEvent(Scope scope, LogOffset offset) const {
  storage::LogEntry entry;
  absl::Status status = impl_->database->GetRecord(Family::kLog, LogKey(scope, offset), "log entry", entry);
  if (absl::IsNotFound(status) || (status.ok() && !entry.has_event())) {
    return absl::NotFoundError(absl::StrCat("there is no event at offset ", offset));
  }
  if (!status.ok()) return status;
  return std::move(*entry.mutable_event());
}

}  // namespace waymark
