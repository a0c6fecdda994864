#include <set>

#include "pipeline/page_list.h"
#include "tests/end_to_end/open_engine.h"

namespace waymark::tests {
namespace {

std::vector<Mutation> Shelf(int size) {
  std::vector<Mutation> films;
  for (int i = 0; i < size; ++i) {
    films.push_back(
        Film("f" + std::to_string(i), "Film number" + std::to_string(i), "g" + std::to_string(i % 4), i));
  }
  return films;
}

PipelineResponse MustRun(Collection* collection, const PipelineRequest& request) {
  auto answer = collection->Run(request, Deadline::Never());
  if (!answer.ok()) FAIL(std::string(answer.status().message()));
  return *answer;
}

TEST_CASE(
    "pages of a search are stable, complete and without repeats, and deleted items drop out of later ones") {
  OpenEngine engine;
  Collection* films = engine.In();
  MustWrite(films, Shelf(95));
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  PipelineRequest request = SearchFor("film");
  request.page_size = 10;
  std::vector<std::string> seen;
  for (int page = 0; page < 20; ++page) {
    const PipelineResponse answer = MustRun(films, request);
    CHECK(answer.total == 95);
    for (const RankedItem& item : answer.items) seen.push_back(item.record.id());
    if (page == 2) MustWrite(films, {DeleteItem{"f94"}, DeleteItem{"f93"}});
    if (answer.next_page_token.empty()) break;
    request.page_token = answer.next_page_token;
  }
  const std::set<std::string> distinct(seen.begin(), seen.end());
  CHECK(distinct.size() == seen.size());
  CHECK(seen.size() >= 93);
  CHECK(seen.size() <= 95);
  request.query = "number3";
  CHECK(absl::IsInvalidArgument(films->Run(request, Deadline::Never()).status()));
}

TEST_CASE("an answer names its release, and its token the request") {
  OpenEngine engine;
  Collection* films = engine.In();
  MustWrite(films, Shelf(5));
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  const PipelineResponse answer = MustRun(films, SearchFor("film"));
  CHECK(answer.release == "none");
  CHECK(answer.ranker == "weighted-sum");
  const auto attribution = engine->ReadAttributionToken(answer.attribution_token);
  REQUIRE(attribution.ok());
  CHECK(attribution->request_id() == answer.request_id);
  CHECK(absl::IsInvalidArgument(engine->ReadAttributionToken("made up").status()));
  // The key is in memory: every event with a token is checked against it.
  std::filesystem::remove(engine.folder() / "signing.key");
  CHECK(engine->ReadAttributionToken(answer.attribution_token).ok());
  PipelineRequest request = SearchFor("film");
  request.release = "nosuch";
  CHECK(absl::IsNotFound(films->Run(request, Deadline::Never()).status()));
}

TEST_CASE("seen items can be asked for, by type too; negative items and what is looked at are left out") {
  OpenEngine engine;
  Collection* films = engine.In();
  MustWrite(films, Shelf(8));
  WriteEvent dislike = View("u", "f1");
  dislike.type = "dislike";
  MustWrite(films, {View("u", "f0"), dislike});
  CHECK(Ids(films, FeedOf("u")).size() == 6);
  PipelineRequest request = FeedOf("u");
  request.exclude_seen.disabled = true;
  CHECK(Has(Ids(films, request), "f0"));
  CHECK(!Has(Ids(films, request), "f1"));  // disliked
  request = FeedOf("u");
  request.exclude_seen.types = {"purchase"};
  CHECK(Has(Ids(films, request), "f0"));
  request.exclude_seen.types = {"glance"};
  CHECK(absl::IsInvalidArgument(films->Run(request, Deadline::Never()).status()));
  request = FeedOf("");
  request.context_items = {"f2"};
  request.negative_items = {"f3", "never-heard-of"};
  const auto ids = Ids(films, request);
  CHECK(!Has(ids, "f2"));
  CHECK(!Has(ids, "f3"));
  CHECK(ids.size() == 6);
}

TEST_CASE("without personalization no profile is read") {
  OpenEngine engine;
  Collection* films = engine.In();
  MustWrite(films, Shelf(4));
  MustWrite(films, {View("u", "f0")});
  PipelineRequest request = FeedOf("u");
  request.personalization = PersonalizationMode::kOff;
  CHECK(Has(Ids(films, request), "f0"));
}

TEST_CASE("a filter that leaves too little is filled up only when it is not strict, and the answer says so") {
  OpenEngine engine;
  Collection* films = engine.In();
  MustWrite(films, Shelf(12));
  PipelineRequest request = FeedOf("u");
  request.filter = "price < 3";
  request.page_size = 6;
  CHECK(Ids(films, request).size() == 3);
  request.strict_filter = false;
  const PipelineResponse answer = MustRun(films, request);
  REQUIRE(answer.items.size() == 6);
  for (int i = 0; i < 3; ++i) CHECK(answer.items[i].record.fields().fields().at("price").number_value() < 3);
  REQUIRE(answer.degraded.size() == 1);
  CHECK(answer.degraded[0].stage == "filter");
}

TEST_CASE("ids that nobody has named are passed over, and the answer says which") {
  OpenEngine engine;
  Collection* films = engine.In();
  MustWrite(films, Shelf(4));
  PipelineRequest request = FeedOf("u");
  request.context_items = {"f1", "lost"};
  request.negative_items = {"f2", "a", "b", "c", "d", "e", "f", "g"};
  const PipelineResponse answer = MustRun(films, request);
  REQUIRE(answer.degraded.size() == 2);
  CHECK(answer.degraded[0].stage == "context");
  CHECK(answer.degraded[0].reason == "context_items: no item and no event names 'lost'; passed over");
  CHECK(answer.degraded[1].reason ==
        "negative_items: no item and no event names 'a', 'b', 'c', 'd', 'e' and 2 others; passed over");
  std::set<std::string> shown;
  for (const RankedItem& item : answer.items) shown.insert(item.record.id());
  CHECK(shown == std::set<std::string>{"f0", "f3"});
}

TEST_CASE("Rank orders the caller's candidates and names those that it does not know") {
  OpenEngine engine;
  Collection* films = engine.In();
  MustWrite(films, Shelf(6));
  PipelineRequest request;
  request.kind = RequestKind::kRank;
  request.given = {{"f1", {{"popularity_score", 1.0}}}, {"ghost", {}}, {"f2", {{"popularity_score", 5.0}}}};
  const PipelineResponse answer = MustRun(films, request);
  REQUIRE(answer.items.size() == 2);
  CHECK(answer.items[0].record.id() == "f2");
  CHECK(answer.unknown_item_ids == std::vector<std::string>{"ghost"});
}

TEST_CASE("a deadline that has passed gives an error only when nothing was found") {
  OpenEngine engine;
  Collection* films = engine.In();
  MustWrite(films, Shelf(6));
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  FixedClock clock(absl::FromUnixSeconds(100));
  auto answer = films->Run(FeedOf("u"), Deadline::At(absl::FromUnixSeconds(50), &clock));
  CHECK(absl::IsDeadlineExceeded(answer.status()));
}

TEST_CASE("a similar-items feed works from co-visitation while nothing is trained") {
  OpenEngine engine;
  Collection* films = engine.In();
  MustWrite(films, Shelf(10));
  for (int u = 0; u < 5; ++u) {
    MustWrite(films, {View("u" + std::to_string(u), "f0"), View("u" + std::to_string(u), "f9")});
  }
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  PipelineRequest request = FeedOf("");
  request.context_items = {"f0"};
  CHECK(Ids(films, request).at(0) == "f9");
}

}  // namespace
}  // namespace waymark::tests
