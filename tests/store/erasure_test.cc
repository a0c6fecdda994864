#include <rocksdb/db.h>

#include "store/database_impl.h"
#include "store/erasure_impl.h"
#include "store/keys.h"
#include "store/write_builder_impl.h"
#include "tests/store/fixture.h"

namespace waymark::tests {
namespace {

// Everything that the folder holds, key after value, of every family.
std::string WholeContent(const std::filesystem::path& data) {
  auto database = Database::Open(data / "store", {.read_only = true, .cache_bytes = 1 << 20});
  REQUIRE(database.status() == absl::OkStatus());
  std::string content;
  for (size_t i = 0; i < kFamilies; ++i) {
    for (auto walk = (*database)->Walk(static_cast<Family>(i), ""); walk->Valid(); walk->Next()) {
      content.append(walk->key()).append("\n").append(walk->value()).append("\n");
    }
  }
  return content;
}

WriteEvent Telling(const std::string& who, const std::string& item, int at, const std::string& type) {
  WriteEvent event = Event(who, item, at, type);
  event.event_id = absl::StrCat("SECRET-event-", at);
  event.session_id = "SECRET-session";
  event.query = "SECRET-query";
  event.surface = "home";
  event.request_id = "SECRET-request";
  event.attribution_token = "SECRET-token";
  event.value = 4;
  event.context = Fields({{"ip", Text("SECRET-ip")}});
  event.properties = Fields({{"note", Text("SECRET-note")}});
  return event;
}

}  // namespace

TEST_CASE("an erased user leaves no text, no history and no number behind") {
  StoreFixture f;
  f.Write({PutItem{"i1", {}}, Event("u-bystander", "i1", 1)});
  f.Write({PutUser{"u-SECRET-id", Fields({{"name", Text("SECRET-name")}})},
           UpdateUser{"u-SECRET-id", Fields({{"mail", Text("SECRET-mail")}}), {}, 0}});
  f.Write({Telling("v-SECRET-id", "i1", 2, "view"), Telling("v-SECRET-id", "", 3, "search")});
  f.Write({Identify("u-SECRET-id", "v-SECRET-id", 4)});
  f.Write({Telling("u-SECRET-id", "i1", 5, "purchase"), Telling("u-SECRET-id", "", 6, "search"),
           Telling("v-SECRET-id", "i2", 7, "click")});
  const UserNumber user = f.User("u-SECRET-id"), visitor = f.VisitorNumber("v-SECRET-id");
  const auto before = f.ReadLog();
  f.Close();
  REQUIRE(WholeContent(f.data()).find("SECRET") != std::string::npos);  // the scan can see it
  f.Reopen();

  f.Write({DeleteUser{"u-SECRET-id"}});
  CHECK(f.User("u-SECRET-id") == 0);
  CHECK(f.VisitorNumber("v-SECRET-id") == 0);
  CHECK(absl::IsNotFound(f.store_->GetUser(f.scope_, user).status()));
  CHECK(f.HistoryOf(user).empty());
  CHECK(f.HistoryOf(visitor).empty());
  CHECK(f.HistoryOf(f.User("u-bystander")) == std::vector<std::string>{"i1"});
  CHECK(f.store_->Counts(f.scope_).users == 1);
  CHECK(f.store_->Counts(f.scope_).events == 7);

  const auto log = f.ReadLog();
  REQUIRE(log.size() == before.size() + 2);  // the user and the visitor
  for (size_t i = 0; i < before.size(); ++i) {
    const storage::LogEntry &was = before[i].entry, &is = log[i].entry;
    if (was.has_user()) CHECK(is.erasure().user() == user);
    if (was.has_item()) CHECK(is.SerializeAsString() == was.SerializeAsString());
    if (!was.has_event()) continue;
    CHECK(is.event().type() == was.event().type());
    CHECK(is.event().time_us() == was.event().time_us());
    CHECK(is.event().items_size() == was.event().items_size());
    const bool bystander = was.event().user() == f.User("u-bystander");
    CHECK((is.event().user() != 0) == bystander);
    if (!bystander) CHECK(is.event().visitor() == 0);
  }
  CHECK(log[log.size() - 2].entry.erasure().user() == user);
  CHECK(log[log.size() - 1].entry.erasure().user() == visitor);
  f.Close();
  CHECK(WholeContent(f.data()).find("SECRET") == std::string::npos);
}

TEST_CASE("erasure is idempotent, and the number is not given out again") {
  StoreFixture f;
  f.Write({Event("u1", "i")});
  const UserNumber first = f.User("u1");
  f.Write({DeleteUser{"u1"}});
  const LogOffset end = f.store_->End();
  f.Write({DeleteUser{"u1"}, DeleteUser{"never-seen"}});
  CHECK(f.store_->End() == end);
  f.Reopen();
  f.Write({Event("u1", "j")});
  CHECK(f.User("u1") > first);
  CHECK(f.HistoryOf(f.User("u1")) == std::vector<std::string>{"j"});
}

TEST_CASE("an event that is sent again after the erasure stays a duplicate") {
  StoreFixture f;
  WriteEvent event = Event("u1", "i");
  event.event_id = "e1";
  f.Write({event, DeleteUser{"u1"}});
  CHECK(f.WriteOne(event).duplicate);
  CHECK(f.User("u1") == 0);
}

TEST_CASE("in one write, what comes before the erasure is erased and what comes after is a new user's") {
  StoreFixture f;
  f.Write({Event("v1", "a", 1), Identify("u1", "v1", 2), Event("u1", "b", 3), DeleteUser{"u1"},
           Event("u1", "c", 4), Event("v1", "d", 5)});
  CHECK(f.HistoryOf(f.User("u1")) == std::vector<std::string>{"c"});
  CHECK(f.HistoryOf(f.VisitorNumber("v1")) == std::vector<std::string>{"d"});
  CHECK(f.store_->GetEvent(f.scope_, 3)->user() == 0);
  CHECK(f.store_->Counts(f.scope_).users == 2);
}

TEST_CASE("a long history is erased in parts, and an erasure that was cut short goes on") {
  StoreFixture f;
  for (int batch = 0; batch < 25; ++batch) {
    std::vector<Mutation> mutations;
    for (int i = 0; i < 100; ++i) {
      WriteEvent event = Event("u1", absl::StrCat("i", i), batch * 100 + i, "view");
      event.query = "SECRET";
      mutations.push_back(event);
    }
    f.Write(std::move(mutations));
  }
  const UserNumber user = f.User("u1");
  // The first step by hand, as a crash would leave it.
  f.Close();
  {
    auto database = Database::Open(f.data() / "store", {.cache_bytes = 1 << 20});
    REQUIRE(database.ok());
    Batch batch;
    (*database)->Delete(batch, Family::kUserIds, UserIdKey(f.scope_, false, "u1"));
    (*database)->Delete(batch, Family::kUsers, UserKey(f.scope_, user));
    std::string note;
    AppendBigEndian64(note, user);
    (*database)->Put(batch, Family::kMeta, ErasureKey(f.scope_, user), note);
    REQUIRE((*database)->Write(batch, true).ok());
  }
  {  // Before it goes on, nobody sees the history.
    auto reader = Store::Open(f.data(), {.read_only = true});
    REQUIRE(reader.ok());
    CHECK((*reader)->ReadHistory(f.scope_, user, {}).empty());
    int visits = 0;
    REQUIRE((*reader)->ForEachHistory(f.scope_, 1 << 30, [&](auto, auto) { return ++visits, true; }).ok());
    CHECK(visits == 0);
  }
  f.Reopen();
  f.Close();
  CHECK(WholeContent(f.data()).find("SECRET") == std::string::npos);
  f.Reopen();
  CHECK(f.store_->GetEvent(f.scope_, 1)->user() == 0);
  CHECK(f.store_->GetEvent(f.scope_, 2500)->user() == 0);
}

}  // namespace waymark::tests
