#include "training/ranker/ranker_trainer.h"

#include <fstream>

#include "tests/ranker_training/synthetic.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using tests::FirstPlaces;
using tests::ListsOf;
using tests::MakeWorld;
using tests::Rule;
using tests::SyntheticDirectory;
using tests::TemporaryFolder;

const SyntheticDirectory kItems(400, 10);

RankerTrainerOptions Small() {
  RankerTrainerOptions options;
  options.content_buckets = 256;
  options.query_buckets = 256;
  options.lists_per_batch = 32;
  options.max_epochs = 8;
  return options;
}

bool SameWeights(const TrainedRanker& a, const TrainedRanker& b) {
  if (a.weights.size() != b.weights.size()) return false;
  for (const auto& [name, data] : a.weights) {
    if (b.weights.at(name).bytes != data.bytes) return false;
  }
  return true;
}

TEST_CASE("the ranker learns that the target has the largest value of one feature") {
  const RankingLists train = ListsOf(MakeWorld(Rule::kLargestFeature, 600, 0, 400, 1));
  const RankingLists test = ListsOf(MakeWorld(Rule::kLargestFeature, 200, 0, 400, 2));
  auto trained = TrainRanker(train, test, kItems, Small(), nullptr, {});
  REQUIRE(trained.ok());
  auto scores = ScoreRankingLists(*trained, test, kItems);
  REQUIRE(scores.ok());
  CHECK(FirstPlaces(*scores, test) > 0.95);  // one in ten by chance
  CHECK(trained->metrics.at("validation_ndcg_at_10") > 0.97);
  CHECK(trained->lists == 600);
}

TEST_CASE(
    "the ranker learns a rule that only attention to the history can see, and carries it to new items") {
  const RankingLists train = ListsOf(MakeWorld(Rule::kCategoryOfLastItem, 1500, 0, 200, 3));
  // Items that no training list has: only their category tells.
  const RankingLists test = ListsOf(MakeWorld(Rule::kCategoryOfLastItem, 200, 200, 400, 4));
  RankingLists none(train.feature_count(), {});
  auto trained = TrainRanker(train, none, kItems, Small(), nullptr, {});
  REQUIRE(trained.ok());
  auto scores = ScoreRankingLists(*trained, test, kItems);
  REQUIRE(scores.ok());
  CHECK(FirstPlaces(*scores, test) > 0.8);
}

TEST_CASE("the ranker learns what the words of a query mean") {
  const RankingLists train = ListsOf(MakeWorld(Rule::kCategoryOfQuery, 1500, 0, 400, 5));
  const RankingLists test = ListsOf(MakeWorld(Rule::kCategoryOfQuery, 200, 0, 400, 6));
  RankingLists none(train.feature_count(), {});
  auto trained = TrainRanker(train, none, kItems, Small(), nullptr, {});
  REQUIRE(trained.ok());
  CHECK(trained->lists_with_query == 1500);
  auto scores = ScoreRankingLists(*trained, test, kItems);
  REQUIRE(scores.ok());
  CHECK(FirstPlaces(*scores, test) > 0.8);
}

TEST_CASE("the same lists and seed give the same weights for any number of threads, another seed others") {
  const RankingLists train = ListsOf(MakeWorld(Rule::kLargestFeature, 100, 0, 400, 7));
  RankingLists none(train.feature_count(), {});
  RankerTrainerOptions options = Small();
  options.max_epochs = 2;
  auto one = TrainRanker(train, none, kItems, options, nullptr, {});
  options.threads = 3;
  auto two = TrainRanker(train, none, kItems, options, nullptr, {});
  REQUIRE(one.ok());
  REQUIRE(two.ok());
  CHECK(SameWeights(*one, *two));
  options.seed = 2;
  auto other = TrainRanker(train, none, kItems, options, nullptr, {});
  REQUIRE(other.ok());
  CHECK_FALSE(SameWeights(*one, *other));
}

TEST_CASE("a run that was stopped anywhere ends with the weights of one that was not") {
  const RankingLists train = ListsOf(MakeWorld(Rule::kCategoryOfLastItem, 200, 0, 400, 8));
  RankingLists none(train.feature_count(), {});
  RankerTrainerOptions options = Small();
  options.max_epochs = 3;
  auto whole = TrainRanker(train, none, kItems, options, nullptr, {});
  REQUIRE(whole.ok());

  TemporaryFolder folder;
  options.checkpoint_folder = folder.path() / "run";
  int stops = 0;
  absl::StatusOr<TrainedRanker> resumed = absl::UnknownError("");
  while (true) {
    std::stop_source source;
    int batches = 0;  // stops in the middle of epochs
    resumed = TrainRanker(
        train, none, kItems, options,
        [&](const RankerProgress& p) {
          if (!p.epoch_done && ++batches == 4) source.request_stop();
        },
        source.get_token());
    if (!absl::IsCancelled(resumed.status())) break;
    REQUIRE(std::filesystem::exists(options.checkpoint_folder / "ranker-checkpoint.safetensors"));
    REQUIRE(++stops < 50);
  }
  REQUIRE(resumed.ok());
  CHECK(stops >= 3);
  CHECK(SameWeights(*whole, *resumed));
  CHECK(whole->metrics == resumed->metrics);
  // What is done needs no checkpoint.
  CHECK_FALSE(std::filesystem::exists(options.checkpoint_folder / "ranker-checkpoint.safetensors"));
}

TEST_CASE("a checkpoint of other lists or options is refused, a damaged one too") {
  const RankingLists train = ListsOf(MakeWorld(Rule::kLargestFeature, 100, 0, 400, 9));
  const RankingLists others = ListsOf(MakeWorld(Rule::kLargestFeature, 100, 0, 400, 10));
  RankingLists none(train.feature_count(), {});
  TemporaryFolder folder;
  RankerTrainerOptions options = Small();
  options.checkpoint_folder = folder.path();
  std::stop_source source;
  source.request_stop();
  REQUIRE(absl::IsCancelled(TrainRanker(train, none, kItems, options, nullptr, source.get_token()).status()));
  CHECK(absl::IsFailedPrecondition(TrainRanker(others, none, kItems, options, nullptr, {}).status()));
  RankerTrainerOptions changed = options;
  changed.learning_rate *= 2;
  CHECK(absl::IsFailedPrecondition(TrainRanker(train, none, kItems, changed, nullptr, {}).status()));
  const std::filesystem::path file = folder.path() / "ranker-checkpoint.safetensors";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  CHECK(absl::IsDataLoss(TrainRanker(train, none, kItems, options, nullptr, {}).status()));
}

TEST_CASE("training without lists, or with an option out of bounds, says what it takes") {
  RankingLists none(FeatureTable::Current().size(), {});
  CHECK(absl::IsInvalidArgument(TrainRanker(none, none, kItems, Small(), nullptr, {}).status()));
  const RankingLists train = ListsOf(MakeWorld(Rule::kLargestFeature, 20, 0, 400, 11));
  RankerTrainerOptions options = Small();
  options.lists_per_batch = 0;
  const absl::Status status = TrainRanker(train, none, kItems, options, nullptr, {}).status();
  REQUIRE(absl::IsInvalidArgument(status));
  CHECK(std::string(status.message()).find("lists_per_batch is 0") != std::string::npos);
  options = Small();
  options.width = 30;
  options.attention_heads = 4;
  CHECK(absl::IsInvalidArgument(TrainRanker(train, none, kItems, options, nullptr, {}).status()));
}

TEST_CASE("progress tells epochs, lists and the validation figure") {
  const RankingLists train = ListsOf(MakeWorld(Rule::kLargestFeature, 100, 0, 400, 12));
  RankingLists none(train.feature_count(), {});
  RankerTrainerOptions options = Small();
  options.max_epochs = 2;
  std::vector<RankerProgress> seen;
  REQUIRE(TrainRanker(train, none, kItems, options, [&](const RankerProgress& p) { seen.push_back(p); }, {})
              .ok());
  REQUIRE(seen.size() > 4);
  CHECK(seen.front().epoch == 1);
  CHECK(seen.front().lists == 32);
  CHECK(seen.front().loss == Approx(2.3025851).margin(0.3));  // ln 10: ten candidates, nothing learned
  CHECK(seen.back().epoch == 2);
  CHECK(seen.back().epoch_done);
  CHECK(seen.back().lists == seen.back().epoch_lists);
  CHECK(seen.back().best_validation_ndcg > 0);
}

}  // namespace
}  // namespace waymark
