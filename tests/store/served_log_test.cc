#include "store/served_log.h"

#include <thread>

#include "tests/store/fixture.h"

namespace waymark::tests {
namespace {

const Scope kScope = {1, 1};

storage::ServeRecord Record(const std::string& request, absl::Time time, UserNumber user = 1) {
  storage::ServeRecord record;
  record.set_request_id(request);
  record.set_time_us(absl::ToUnixMicros(time));
  record.set_user(user);
  record.add_shown()->set_item(7);
  return record;
}

std::unique_ptr<ServedLog> OpenLog(const std::filesystem::path& data, const ServedLogOptions& options) {
  auto log = ServedLog::Open(data, options);
  REQUIRE(log.status() == absl::OkStatus());
  return std::move(*log);
}

std::vector<std::string> Requests(const ServedLog& log, Scope scope, std::optional<absl::Time> from = {}) {
  std::vector<std::string> ids;
  REQUIRE(log.ForEach(scope, from,
                      [&](const storage::ServeRecord& record) {
                        ids.push_back(record.request_id());
                        return true;
                      })
              .ok());
  return ids;
}

}  // namespace

TEST_CASE("what was served is found by its request, and read in the order of time") {
  TemporaryFolder folder;
  const FixedClock clock(kNow);
  {
    auto log = OpenLog(folder.path(), {.clock = &clock});
    CHECK(log->Append(kScope, Record("b", kNow - absl::Seconds(1))));
    CHECK(log->Append(kScope, Record("c", kNow)));
    CHECK(log->Append(kScope, Record("a", kNow - absl::Seconds(2))));
    CHECK(log->Append({1, 2}, Record("other", kNow)));
    REQUIRE(log->Flush().ok());
    CHECK(log->Find(kScope, "a")->shown(0).item() == 7);
    CHECK(absl::IsNotFound(log->Find(kScope, "other").status()));
    CHECK(Requests(*log, kScope) == std::vector<std::string>{"a", "b", "c"});
    CHECK(Requests(*log, kScope, kNow - absl::Seconds(1)) == std::vector<std::string>{"b", "c"});
    CHECK(log->Append(kScope, Record("d", kNow)));
  }  // writes what is queued
  auto log = OpenLog(folder.path(), {.read_only = true, .clock = &clock});
  CHECK(Requests(*log, kScope).size() == 4);
  CHECK_FALSE(log->Append(kScope, Record("e", kNow)));
  CHECK(log->dropped() == 1);
  CHECK(absl::IsNotFound(ServedLog::Open(folder.path() / "none", {.read_only = true}).status()));
}

TEST_CASE("what is past its retention is not read, and is removed from the disk") {
  TemporaryFolder folder;
  FixedClock clock(kNow);
  const ServedLogOptions options = {.retention = absl::Hours(24), .clock = &clock};
  {
    auto log = OpenLog(folder.path(), options);
    for (int hour = 0; hour < 48; ++hour) {
      for (Scope scope : {kScope, Scope{2, 9}}) {
        log->Append(scope, Record(absl::StrCat("h", hour), kNow + absl::Hours(hour)));
      }
    }
    REQUIRE(log->Flush().ok());
    clock.Set(kNow + absl::Hours(47));
    CHECK(Requests(*log, kScope).front() == "h23");
    CHECK(Requests(*log, kScope).size() == 25);
    CHECK(absl::IsNotFound(log->Find(kScope, "h22").status()));
    CHECK(log->Find(kScope, "h23").ok());
    REQUIRE(log->Trim().ok());
  }
  // Turned back, the clock would show what is still on the disk.
  clock.Set(kNow);
  auto log = OpenLog(folder.path(), options);
  for (Scope scope : {kScope, Scope{2, 9}}) {
    CHECK(Requests(*log, scope).size() == 25);
    CHECK(absl::IsNotFound(log->Find(scope, "h22").status()));
  }
}

TEST_CASE("the writing thread trims by itself") {
  TemporaryFolder folder;
  FixedClock clock(kNow);
  auto log = OpenLog(folder.path(), {.trim_interval = absl::Milliseconds(20), .clock = &clock});
  log->Append(kScope, Record("old", kNow - absl::Hours(31 * 24)));
  log->Append(kScope, Record("new", kNow));
  REQUIRE(log->Flush().ok());
  const ServedLogOptions patient = {.read_only = true, .retention = absl::Hours(1000 * 24), .clock = &clock};
  for (int tries = 0; tries < 200; ++tries) {
    if (Requests(*OpenLog(folder.path(), patient), kScope) == std::vector<std::string>{"new"}) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(Requests(*OpenLog(folder.path(), patient), kScope) == std::vector<std::string>{"new"});
}

TEST_CASE("a full queue drops and counts; nothing else is lost") {
  TemporaryFolder folder;
  const FixedClock clock(kNow);
  auto log = OpenLog(folder.path(), {.queue_bytes = 4000, .clock = &clock});
  int64_t taken = 0;
  for (int i = 0; i < 5000; ++i) taken += log->Append(kScope, Record(absl::StrCat("r", i), kNow)) ? 1 : 0;
  storage::ServeRecord large = Record("large", kNow);
  large.set_query(std::string(5000, 'q'));
  CHECK_FALSE(log->Append(kScope, large));
  REQUIRE(log->Flush().ok());
  CHECK(log->dropped() == 5001 - taken);
  CHECK(static_cast<int64_t>(Requests(*log, kScope).size()) == taken);
  CHECK(taken >= 10);
}

TEST_CASE("what was served to erased users is removed") {
  TemporaryFolder folder;
  const FixedClock clock(kNow);
  auto log = OpenLog(folder.path(), {.clock = &clock});
  for (int i = 0; i < 3000; ++i) {
    log->Append(kScope, Record(absl::StrCat("r", i), kNow + absl::Microseconds(i),
                               1 + static_cast<UserNumber>(i % 3)));
  }
  const std::vector<UserNumber> erased = {1, 3};
  REQUIRE(log->RemoveUsers(kScope, erased).ok());
  CHECK(log->dropped() == 0);
  const auto left = Requests(*log, kScope);
  CHECK(left.size() == 1000);
  CHECK(left.front() == "r1");
  CHECK(absl::IsNotFound(log->Find(kScope, "r0").status()));
  CHECK(log->Find(kScope, "r1").ok());
}

}  // namespace waymark::tests
