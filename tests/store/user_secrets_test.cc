#include <set>

#include "store/database_impl.h"
#include "store/keys.h"
#include "store/store_impl.h"
#include "tests/store/fixture.h"

namespace waymark::tests {
namespace {

std::string SecretOf(const StoreFixture& f, UserNumber user) {
  auto secret = f.store_->UserSecret(f.scope_, user);
  return secret.ok() ? *secret : std::string(absl::StatusCodeToString(secret.status().code()));
}

// All that the families of the folder hold, keys and values.
std::string Everything(const StoreFixture& f, absl::Span<const Family> families) {
  auto database = Database::Open(f.data() / "store", {.read_only = true, .cache_bytes = 1 << 20});
  REQUIRE(database.ok());
  std::string content;
  for (Family family : families) {
    for (auto walk = (*database)->Walk(family, ""); walk->Valid(); walk->Next()) {
      content.append(walk->key()).append("\n").append(walk->value()).append("\n");
    }
  }
  return content;
}

}  // namespace

TEST_CASE("every user and visitor has a secret of its own, which a restart keeps") {
  StoreFixture f;
  f.Write({PutUser{"u1", {}}, Event("u2", "i"), Event("v1", "i"), Event("v2", "j")});
  const std::vector<UserNumber> users = {f.User("u1"), f.User("u2"), f.VisitorNumber("v1"),
                                         f.VisitorNumber("v2")};
  std::vector<std::string> secrets;
  for (UserNumber user : users) secrets.push_back(SecretOf(f, user));
  for (const std::string& secret : secrets) CHECK(secret.size() == 32);
  CHECK(std::set<std::string>(secrets.begin(), secrets.end()).size() == 4);
  f.Write({PutUser{"u1", Fields({{"name", Text("x")}})}, Event("u2", "j")});
  f.Reopen();
  for (size_t i = 0; i < users.size(); ++i) CHECK(SecretOf(f, users[i]) == secrets[i]);
  CHECK(SecretOf(f, 99) == "NOT_FOUND");
  f.Close();
  // Only where the secrets are: not in the log, which is copied, nor in the records.
  const std::string elsewhere =
      Everything(f, {Family::kLog, Family::kUsers, Family::kHistory, Family::kUserLog, Family::kMeta});
  for (const std::string& secret : secrets) CHECK(elsewhere.find(secret) == std::string::npos);
}

TEST_CASE("erasing a user removes the secrets of the user and of the visitors who were that user") {
  StoreFixture f;
  f.Write({Event("v1", "a", 1), Identify("u1", "v1", 2), Event("u1", "b", 3), Event("u2", "c", 4)});
  const UserNumber user = f.User("u1"), visitor = f.VisitorNumber("v1"), other = f.User("u2");
  const std::string secret = SecretOf(f, user), of_visitor = SecretOf(f, visitor);
  f.Write({DeleteUser{"u1"}});
  CHECK(SecretOf(f, user) == "NOT_FOUND");
  CHECK(SecretOf(f, visitor) == "NOT_FOUND");
  CHECK(SecretOf(f, other).size() == 32);
  // Who comes back is somebody else.
  f.Write({Event("u1", "d", 5)});
  CHECK(SecretOf(f, f.User("u1")).size() == 32);
  CHECK(SecretOf(f, f.User("u1")) != secret);
  f.Close();
  const std::string left = Everything(f, {Family::kUserIds});
  CHECK(left.find(secret) == std::string::npos);
  CHECK(left.find(of_visitor) == std::string::npos);
}

TEST_CASE("a user who is made and erased in one write leaves no secret") {
  StoreFixture f;
  f.Write({Event("u0", "a"), Event("u1", "a"), DeleteUser{"u1"}});
  CHECK(SecretOf(f, 1).size() == 32);
  CHECK(SecretOf(f, 2) == "NOT_FOUND");
}

TEST_CASE("what was sealed for a visitor ends when the visitor turns out to be a second user") {
  StoreFixture f;
  f.Write({Event("v1", "a", 1), Identify("u1", "v1", 2)});
  const UserNumber visitor = f.VisitorNumber("v1");
  CHECK(SecretOf(f, visitor).size() == 32);
  f.Write({Identify("u1", "v1", 3)});
  CHECK(SecretOf(f, visitor).size() == 32);
  // What the visitor did before is u1's, and u1's erasure would not come by here any more.
  f.Write({Identify("u2", "v1", 4)});
  CHECK(SecretOf(f, visitor) == "NOT_FOUND");
  f.Write({Event("v1", "b", 5), DeleteUser{"u1"}});
  CHECK(f.HistoryOf(f.User("u2")) == std::vector<std::string>{"b"});
  CHECK(SecretOf(f, f.User("u2")).size() == 32);
}

TEST_CASE("a folder of format 1 gets its users' secrets when it is opened for writing, once") {
  StoreFixture f;
  std::vector<Mutation> many;
  for (int i = 0; i < 12000; ++i) many.push_back(PutUser{absl::StrCat("u", i), {}});  // more than one batch
  f.Write(std::move(many));
  f.Close();
  std::string kept;
  {
    auto database = Database::Open(f.data() / "store", {.cache_bytes = 1 << 20});
    REQUIRE(database.ok());
    Batch batch;
    for (UserNumber user = 1; user <= 12000; ++user) {
      // One has its secret already, as after a crash in the middle.
      if (user == 7) {
        kept = (*database)->Get(Family::kUserIds, UserSecretKey(f.scope_, user))->value();
      } else {
        (*database)->Delete(batch, Family::kUserIds, UserSecretKey(f.scope_, user));
      }
    }
    (*database)->Put(batch, Family::kMeta, kFormatKey, std::string_view("\0\0\0\x01", 4));
    REQUIRE((*database)->Write(batch, true).ok());
  }
  {
    auto reader = Store::Open(f.data(), {.read_only = true});
    REQUIRE(reader.ok());
    CHECK((*reader)->Counts(f.scope_).users == 12000);
    CHECK(absl::IsNotFound((*reader)->UserSecret(f.scope_, 1).status()));
  }
  f.Reopen();
  std::set<std::string> secrets;
  for (UserNumber user = 1; user <= 12000; ++user) secrets.insert(SecretOf(f, user));
  CHECK(secrets.size() == 12000);
  CHECK(SecretOf(f, 7) == kept);
  const std::string first = SecretOf(f, 1);
  f.Reopen();
  CHECK(SecretOf(f, 1) == first);
  f.Close();
  auto database = Database::Open(f.data() / "store", {.read_only = true, .cache_bytes = 1 << 20});
  REQUIRE(database.ok());
  CHECK((*database)->Get(Family::kMeta, kFormatKey)->value() == std::string("\0\0\0\x02", 4));
}

}  // namespace waymark::tests
