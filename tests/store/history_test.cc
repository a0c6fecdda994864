#include <map>
#include <random>

#include "tests/store/fixture.h"

namespace waymark::tests {

TEST_CASE("a history is newest first by event time, then by offset, then by place in the event") {
  StoreFixture f;
  WriteEvent pair = Event("u1", "p0", 50);
  pair.items.push_back({.item_id = "p1"});
  f.Write({Event("u1", "t50a", 50), Event("u1", "t10", 10), pair, Event("u1", "t90", 90),
           Event("u1", "t50b", 50)});
  CHECK(f.HistoryOf(f.User("u1")) == std::vector<std::string>{"t90", "t50b", "p1", "p0", "t50a", "t10"});
  CHECK(f.HistoryOf(f.User("u1"), {.limit = 2}) == std::vector<std::string>{"t90", "t50b"});
  CHECK(f.HistoryOf(f.User("u1"), {.limit = 0}).empty());
  const absl::Time start = *Event("u1", "x", 50).time;
  CHECK(f.HistoryOf(f.User("u1"), {.not_before = start}) ==
        std::vector<std::string>{"t90", "t50b", "p1", "p0", "t50a"});
  CHECK(f.HistoryOf(f.User("u1"), {.not_before = start + absl::Microseconds(1)}) ==
        std::vector<std::string>{"t90"});
  CHECK(f.HistoryOf(99).empty());
}

TEST_CASE("a history holds only events that name items") {
  StoreFixture f;
  f.Write({Event("u1", "", 1, "search"), Event("u1", "i", 2)});
  CHECK(f.HistoryOf(f.User("u1")) == std::vector<std::string>{"i"});
}

TEST_CASE("details are filled when asked for, and sessions are kept apart") {
  StoreFixture f;
  for (int i = 0; i < 6; ++i) {
    WriteEvent event = Event("u1", absl::StrCat("i", i), i, "rating");
    event.session_id = i % 2 == 0 ? "even" : "odd";
    event.query = "q";
    event.surface = "home";
    event.value = i + 0.5;
    f.Write({event});
  }
  const auto plain = f.store_->ReadHistory(f.scope_, f.User("u1"), {.limit = 1});
  REQUIRE(plain.size() == 1);
  CHECK(plain[0].type == event_code::kRating);
  CHECK(plain[0].value == 5.5f);
  CHECK(plain[0].offset == 6);
  CHECK(plain[0].time == *Event("u1", "x", 5).time);
  CHECK(plain[0].session_id.empty());
  const auto full = f.store_->ReadHistory(f.scope_, f.User("u1"), {.limit = 1, .details = true});
  CHECK(full[0].session_id == "odd");
  CHECK(full[0].query == "q");
  CHECK(full[0].surface == "home");
  CHECK(f.HistoryOf(f.User("u1"), {.limit = 2, .session_id = "even"}) ==
        std::vector<std::string>{"i4", "i2"});
  CHECK(f.store_->ReadHistory(f.scope_, f.User("u1"), {.session_id = "even"})[0].session_id.empty());
  CHECK(f.HistoryOf(f.User("u1"), {.session_id = "none"}).empty());
}

TEST_CASE("every history is visited as of a log position, against a brute-force model") {
  StoreFixture f;
  std::mt19937 random(3);
  using Line = std::tuple<absl::Time, LogOffset, std::string>;
  std::map<std::string, std::vector<Line>> lines;  // by owner's name
  std::map<std::string, std::string> joined;
  for (int i = 0; i < 400; ++i) {
    const std::string visitor = absl::StrCat("v", random() % 6), user = absl::StrCat("u", random() % 4);
    const int at = static_cast<int>(random() % 30);
    if (random() % 20 == 0) {
      f.Write({Identify(user, visitor, at)});
      if (joined[visitor].empty()) {
        lines[user].insert(lines[user].end(), lines[visitor].begin(), lines[visitor].end());
        lines.erase(visitor);
      }
      joined[visitor] = user;
      continue;
    }
    const std::string who = random() % 2 == 0 ? visitor : user;
    const std::string item = absl::StrCat("i", random() % 50);
    f.Write({Event(who, item, at)});
    const std::string owner = who[0] == 'v' && !joined[who].empty() ? joined[who] : who;
    lines[owner].emplace_back(*Event(who, item, at).time, f.store_->End(), item);
  }
  for (LogOffset up_to : {LogOffset{0}, LogOffset{57}, LogOffset{200}, LogOffset{100000}}) {
    std::map<std::string, std::vector<Line>> expected, got;
    for (auto [owner, all] : lines) {
      std::erase_if(all, [&](const Line& line) { return std::get<1>(line) > up_to; });
      std::sort(all.begin(), all.end());
      if (!all.empty()) expected[owner] = all;
    }
    REQUIRE(f.store_
                ->ForEachHistory(f.scope_, up_to,
                                 [&](UserNumber user, absl::Span<const HistoryEvent> events) {
                                   auto& to = got[f.store_->GetUser(f.scope_, user)->id()];
                                   CHECK(to.empty());  // one visit each
                                   for (const HistoryEvent& e : events)
                                     to.emplace_back(e.time, e.offset, f.store_->ItemId(f.scope_, e.item));
                                   return true;
                                 })
                .ok());
    CHECK(got == expected);
  }
  // Newest first is the same, turned round.
  for (auto& [owner, all] : lines) {
    std::sort(all.rbegin(), all.rend());
    std::vector<std::string> ids;
    for (const Line& line : all) ids.push_back(std::get<2>(line));
    const UserNumber number = owner[0] == 'v' ? f.VisitorNumber(owner) : f.User(owner);
    CHECK(f.HistoryOf(number, {.limit = 1000}) == ids);
  }
}

TEST_CASE("visiting histories stops when it is told to") {
  StoreFixture f;
  f.Write({Event("u1", "i"), Event("u2", "i"), Event("u3", "i")});
  int visits = 0;
  REQUIRE(f.store_
              ->ForEachHistory(f.scope_, 99,
                               [&](UserNumber, absl::Span<const HistoryEvent>) { return ++visits < 2; })
              .ok());
  CHECK(visits == 2);
}

}  // namespace waymark::tests
