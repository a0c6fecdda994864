#include "store/event_types.h"

#include "tests/support/catch.h"

namespace waymark {

TEST_CASE("built-in event types have the codes that are on disk") {
  const EventTypes types;
  const std::pair<const char*, uint32_t> codes[] = {
      {"impression", 1}, {"view", 2},    {"click", 3}, {"add_to_cart", 4}, {"purchase", 5}, {"rating", 6},
      {"like", 7},       {"dislike", 8}, {"skip", 9},  {"search", 10},     {"identify", 11}};
  CHECK(types.All().size() == std::size(codes));
  for (const auto& [name, code] : codes) {
    REQUIRE(types.Find(name) != nullptr);
    CHECK(types.Find(name)->code == code);
    CHECK(types.Find(code)->name == name);
  }
  CHECK(types.Find("dislike")->sign == EventSign::kNegative);
  CHECK(types.Find("impression")->sign == EventSign::kNeutral);
  CHECK(types.Find("click")->weight == 1.0);
  CHECK(types.Find("no_such") == nullptr);
  CHECK(types.Find(EventTypeCode{99}) == nullptr);
}

TEST_CASE("declared types are added, and a built-in name keeps its code") {
  const EventTypes types(
      {{100, "bookmark", 1.5, EventSign::kPositive}, {77, "view", 0.1, EventSign::kNeutral}});
  REQUIRE(types.Find("bookmark") != nullptr);
  CHECK(types.Find("bookmark")->code == 100);
  CHECK(types.Find("view")->code == event_code::kView);
  CHECK(types.Find("view")->weight == 0.1);
  CHECK(types.Find("view")->sign == EventSign::kNeutral);
  CHECK(types.Find(EventTypeCode{77}) == nullptr);
}

}  // namespace waymark
