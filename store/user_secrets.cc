#include <unistd.h>

#include <cstdlib>

#include "store/keys.h"
#include "store/user_secrets_impl.h"

namespace waymark {
namespace {

constexpr size_t kSecretBytes = 32, kUsersPerBatch = 10000;

// Of the users with a key from `next` on; `next` is then where to go on, empty: nowhere.
absl::Status MakeSomeSecrets(Database& database, std::string& next) {
  Batch batch;
  auto users = database.Walk(Family::kUsers, next, "", true);
  size_t seen = 0;
  for (; users->Valid() && seen < kUsersPerBatch; users->Next(), ++seen) {
    const std::string_view key = users->key();
    const Scope scope = {ReadBigEndian32(key), ReadBigEndian32(key.substr(4))};
    const std::string secret = UserSecretKey(scope, UserOfKey(key));
    auto there = database.Get(Family::kUserIds, secret);
    if (!there.ok()) return there.status();
    if (!there->has_value()) database.Put(batch, Family::kUserIds, secret, NewUserSecret());
  }
  next = users->Valid() ? std::string(users->key()) : std::string();
  if (absl::Status status = database.Check(users->status()); !status.ok()) return status;
  users.reset();  // a write may have to open the database again
  return batch.Count() == 0 ? absl::OkStatus() : database.Write(batch, true);
}

}  // namespace

std::string NewUserSecret() {
  std::string secret(kSecretBytes, '\0');
  // Fails only where there is no source of randomness at all: nothing may go on with a known key.
  if (getentropy(secret.data(), secret.size()) != 0) std::abort();
  return secret;
}

absl::Status MakeMissingSecrets(Database& database) {
  std::string next;
  do {
    if (absl::Status status = MakeSomeSecrets(database, next); !status.ok()) return status;
  } while (!next.empty());
  return absl::OkStatus();
}

}  // namespace waymark
