#include "training/ranker/ranking_lists.h"

#include "tests/ranker_training/synthetic.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

TEST_CASE("a list is kept as it was given, and lists without their target are counted") {
  RankingLists lists(FeatureTable::Current().size(), {});
  RankingListBuilder builder(&FeatureTable::Current(), &lists);
  RequestContext context;
  HistoryEvent event;
  event.item = 7;
  event.type = event_code::kPurchase;
  context.history.push_back(event);
  context.query = "two words";
  std::vector<Candidate> candidates(3);
  for (ItemOrdinal i = 0; i < 3; ++i) candidates[i].item = 10 + i;
  const absl::Time time = absl::FromUnixSeconds(5);
  CHECK(*builder.AddList(context, candidates, {11, 12}, {1.f, 3.f}, time, 42));
  CHECK_FALSE(*builder.AddList(context, candidates, {99}, {}, time, 43));
  REQUIRE(lists.size() == 1);
  CHECK(lists.without_target() == 1);
  CHECK(lists.with_query() == 1);
  const RankingList list = lists[0];
  CHECK(std::vector<ItemOrdinal>(list.candidates.begin(), list.candidates.end()) ==
        std::vector<ItemOrdinal>{10, 11, 12});
  CHECK(std::vector<float>(list.gains.begin(), list.gains.end()) == std::vector<float>{0, 1, 3});
  CHECK(list.history.size() == 1);
  CHECK(list.history[0] == 7);
  CHECK(list.types[0] == event_code::kPurchase);
  CHECK(list.query.size() == 2);
  CHECK(list.time_us == 5000000);
  CHECK(list.position == 42);
  std::vector<float> rows(3 * FeatureTable::Current().size());
  FeatureTable::Current().Compute(context, candidates, absl::MakeSpan(rows));
  CHECK(std::vector<float>(list.features.begin(), list.features.end()) == rows);
}

TEST_CASE("lists over the memory limit are counted and left out") {
  RankingLists lists(2, {.limit_bytes = 2000});
  const std::vector<float> features(20, 1.f), gains = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<ItemOrdinal> items(10, 3);
  RankingList list;
  list.features = features;
  list.gains = gains;
  list.candidates = items;
  while (lists.Add(list).ok()) REQUIRE(lists.size() < 100);
  CHECK(lists.bytes() <= 2000);
  CHECK(lists.over_limit() == 1);
  CHECK(absl::IsResourceExhausted(lists.Add(list)));
}

TEST_CASE("lists whose sizes do not fit, or that teach nothing, are refused") {
  RankingLists lists(2, {});
  const std::vector<float> features = {1, 2, 3, 4}, gains = {0, 1}, none = {0, 0}, negative = {2, -1};
  const std::vector<float> broken = {1, 2, 3, std::numeric_limits<float>::quiet_NaN()};
  const std::vector<ItemOrdinal> items = {1, 2};
  RankingList list;
  list.features = features;
  list.candidates = items;
  list.gains = gains;
  CHECK(lists.Add(list).ok());
  list.gains = none;
  CHECK(absl::IsInvalidArgument(lists.Add(list)));
  list.gains = negative;
  CHECK(absl::IsInvalidArgument(lists.Add(list)));
  list.gains = gains;
  list.features = broken;
  CHECK(absl::IsInvalidArgument(lists.Add(list)));
  list.features = absl::MakeConstSpan(features).subspan(1);
  CHECK(absl::IsInvalidArgument(lists.Add(list)));
}

}  // namespace
}  // namespace waymark
