#include "suggest/past_queries.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "suggest/suggestion_checkpoint.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
constexpr absl::Duration kDay = absl::Hours(24);

// Tries all that is due; everything finds something.
std::vector<PastQuery> ShownOf(PastQueries* queries, absl::Time now = kNow) {
  for (const std::string& query : queries->Unchecked(now - absl::Minutes(10), 1000)) {
    queries->SetFinds(query, true, now);
  }
  auto shown = queries->Shown(now);
  std::sort(shown.begin(), shown.end(),
            [](const PastQuery& a, const PastQuery& b) { return a.query < b.query; });
  return shown;
}

TEST_CASE(
    "a query is shown when three people asked it, however it was written and however often each asked") {
  PastQueries queries({});
  for (int i = 0; i < 50; ++i) queries.Add("Star Wars", 1, kNow);
  queries.Add("star-wars!", 2, kNow);
  CHECK(ShownOf(&queries).empty());
  queries.Add("  STAR  WARS", 3, kNow);
  const auto shown = ShownOf(&queries);
  REQUIRE(shown.size() == 1);
  CHECK(shown[0].query == "star wars");
  CHECK(shown[0].users == 3);
  CHECK(shown[0].weight == Approx(3));
}

TEST_CASE("who went on to an item counts three times, once") {
  PastQueries queries({});
  for (UserNumber user = 1; user <= 3; ++user) queries.Add("heat", user, kNow);
  queries.Follow("Heat!", 2);
  queries.Follow("heat", 2);
  queries.Follow("heat", 9);  // never asked
  queries.Follow("cold", 1);
  queries.Add("heat", 2, kNow);  // asks again
  CHECK(ShownOf(&queries).at(0).weight == Approx(1 + 3 + 1));
  CHECK(ShownOf(&queries).at(0).users == 3);
}

TEST_CASE("a person's weight halves every half-life since they asked last") {
  PastQueries queries({.half_life = 14 * kDay});
  queries.Add("heat", 1, kNow);
  queries.Add("heat", 2, kNow - 14 * kDay);
  queries.Add("heat", 3, kNow - 28 * kDay);
  queries.Add("heat", 3, kNow - 100 * kDay);  // an older event that comes later changes nothing
  CHECK(ShownOf(&queries).at(0).weight == Approx(1.75));
  CHECK(ShownOf(&queries, kNow + 14 * kDay).at(0).weight == Approx(.875));
}

TEST_CASE("beyond 64 users the weight goes on by the stream that they are of") {
  PastQueries queries({.half_life = 14 * kDay});
  // One new user an hour for a year: the decayed sum of such a stream is 24 * 14 / ln 2 = 485.
  for (int hour = 365 * 24; hour >= 0; --hour) {
    queries.Add("heat", static_cast<UserNumber>(1 + hour), kNow - absl::Hours(hour));
  }
  const PastQuery query = ShownOf(&queries).at(0);
  CHECK(query.users == kMaxPastQueryUsers);
  CHECK(query.weight == Approx(485).epsilon(.03));
}

TEST_CASE("queries that find nothing, that nobody knows, or that nobody has tried are not shown") {
  PastQueries queries({});
  for (UserNumber user = 1; user <= 3; ++user) {
    queries.Add("nothing", user, kNow);
    queries.Add("something", user, kNow);
    queries.Add("anonymous", 0, kNow);
    queries.Add("!?", user, kNow);
    queries.Add(std::string(kMaxPastQueryBytes + 1, 'a'), user, kNow);
  }
  CHECK(queries.size() == 2);
  CHECK(queries.Shown(kNow).empty());
  queries.SetFinds("nothing", false, kNow);
  queries.SetFinds("something", true, kNow);
  REQUIRE(queries.Shown(kNow).size() == 1);
  CHECK(queries.Shown(kNow)[0].query == "something");
  CHECK(queries.Unchecked(kNow - absl::Minutes(1), 10).empty());
  CHECK(queries.Unchecked(kNow + absl::Minutes(1), 10).size() == 2);
}

TEST_CASE("an erased user's part is gone, also when what they did comes again") {
  PastQueries queries({});
  for (UserNumber user = 1; user <= 3; ++user) queries.Add("my secret", user, kNow);
  for (UserNumber user = 1; user <= 4; ++user) queries.Add("heat", user, kNow);
  queries.Add("mine alone", 2, kNow);
  REQUIRE(ShownOf(&queries).size() == 2);
  const std::vector<UserNumber> gone = {2};
  queries.Forget(gone);
  const auto shown = ShownOf(&queries);
  REQUIRE(shown.size() == 1);
  CHECK(shown[0].query == "heat");
  CHECK(shown[0].users == 3);
  CHECK(queries.size() == 2);
  queries.Add("my secret", 2, kNow);
  CHECK(ShownOf(&queries).size() == 1);
}

TEST_CASE("a visitor who turns out to be a user counts as one person with them") {
  PastQueries queries({});
  queries.Add("heat", 1, kNow);
  queries.Add("heat", 2, kNow);
  queries.Add("heat", 9, kNow);  // a visitor
  REQUIRE(ShownOf(&queries).size() == 1);
  queries.Join({{9, 2}});
  CHECK(ShownOf(&queries).empty());
}

TEST_CASE("who asked what is forgotten after 180 days") {
  PastQueries queries({});
  for (UserNumber user = 1; user <= 3; ++user) queries.Add("heat", user, kNow);
  REQUIRE(ShownOf(&queries).size() == 1);
  CHECK(ShownOf(&queries, kNow + 181 * kDay).empty());
  CHECK(queries.size() == 0);
}

TEST_CASE("memory has an end: the queries with the least weight go") {
  PastQueries queries({.max_queries = 100});
  for (int i = 0; i < 1000; ++i) {
    const int64_t age = i % 2 == 0 ? 0 : 60;
    for (UserNumber user = 1; user <= 3; ++user)
      queries.Add("query" + std::to_string(i), user, kNow - age * kDay);
    CHECK(queries.size() <= 100);
  }
  PastQueries pairs({.max_pairs = 100});
  for (UserNumber user = 1; user <= 1000; ++user) pairs.Add("query" + std::to_string(user), user, kNow);
  CHECK(pairs.size() <= 100);
}

TEST_CASE("past queries that an older program has kept are read, and nobody has gone on from them") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("waymark-queries-" + std::to_string(getpid()));
  // Version 1: position, served, newest, one query, whether it finds (2: yes) and when that was tried, who
  // and when.
  auto writer = CheckedWriter::Create(folder / kQueriesFile, "WMQUERYS", 1);
  REQUIRE(writer.ok());
  const int64_t now_us = absl::ToUnixMicros(kNow);
  (*writer)->Put<uint64_t>(17);
  (*writer)->Put<int64_t>(5);
  (*writer)->Put<int64_t>(now_us);
  (*writer)->Put<uint64_t>(1);
  (*writer)->PutText("heat");
  (*writer)->Put<uint8_t>(2);
  (*writer)->Put<int64_t>(now_us);
  const int64_t asked[] = {1, now_us, 2, now_us, 3, now_us};
  (*writer)->Put<uint64_t>(3);
  (*writer)->Write(asked, sizeof asked);
  REQUIRE((*writer)->Commit().ok());
  PastQueries queries({});
  const auto reach = LoadQueries(folder, &queries);
  REQUIRE(reach.status() == absl::OkStatus());
  CHECK(reach->position == 17);
  REQUIRE(queries.Shown(kNow).size() == 1);
  CHECK(queries.Shown(kNow)[0].weight == Approx(3));
  queries.Follow("heat", 2);
  REQUIRE(SaveQueries(folder, queries, *reach).ok());
  PastQueries again({});
  REQUIRE(LoadQueries(folder, &again).ok());
  CHECK(again.Shown(kNow)[0].weight == Approx(5));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace waymark::tests
