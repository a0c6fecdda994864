#include "rank/attention_ranker.h"

#include <algorithm>
#include <thread>

#include "tests/ranker_training/synthetic.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using tests::ListsOf;
using tests::MakeWorld;
using tests::Rule;
using tests::SyntheticDirectory;
using tests::TemporaryFolder;
using tests::World;

const SyntheticDirectory kItems(400, 10);

struct Setting {
  World world;
  TrainedRanker trained;
  std::unique_ptr<Ranker> ranker;
};

const Setting& Ready() {
  static const Setting* const setting = [] {
    auto* s = new Setting;
    // Queries and histories both count.
    s->world = MakeWorld(Rule::kCategoryOfQuery, 400, 0, 400, 1);
    const RankingLists train = ListsOf(s->world);
    RankerTrainerOptions options;
    options.max_epochs = 3;
    options.content_buckets = 64;
    s->trained = *TrainRanker(train, RankingLists(train.feature_count(), {}), kItems, options, nullptr, {});
    TemporaryFolder folder;
    storage::ModelManifest manifest;
    manifest.set_version("r1");
    auto package = WriteRankerPackage(folder.path() / "r1", s->trained, FeatureTable::Current(), manifest);
    s->ranker = *LoadAttentionRanker(*package, &kItems, "any");
    return s;
  }();
  return *setting;
}

std::vector<Candidate> ManyCandidates(size_t n) {
  const World world = MakeWorld(Rule::kCategoryOfQuery, (n + 9) / 10, 0, 400, 9);
  std::vector<Candidate> all;
  for (const auto& some : world.candidates) all.insert(all.end(), some.begin(), some.end());
  all.resize(n);
  return all;
}

TEST_CASE("a loaded ranker scores as the trained one did") {
  const Setting& s = Ready();
  const RankingLists lists = ListsOf(s.world);
  auto in_training = ScoreRankingLists(s.trained, lists, kItems);
  REQUIRE(in_training.ok());
  for (size_t i = 0; i < 50; ++i) {
    auto served = s.ranker->Score(s.world.contexts[i], s.world.candidates[i], false, Deadline::Never());
    REQUIRE(served.ok());
    for (size_t c = 0; c < 10; ++c) {
      REQUIRE(served->engagement[c] == Approx((*in_training)[i][c]).margin(1e-4));
    }
  }
}

TEST_CASE("the order of the candidates changes no score") {
  const Setting& s = Ready();
  // More than one block of 256.
  const std::vector<Candidate> candidates = ManyCandidates(600);
  std::vector<size_t> order(candidates.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  std::vector<Candidate> moved;
  for (size_t i : order) moved.push_back(candidates[i]);
  auto one = s.ranker->Score(s.world.contexts[0], candidates, false, Deadline::Never());
  auto two = s.ranker->Score(s.world.contexts[0], moved, false, Deadline::Never());
  REQUIRE(one.ok());
  REQUIRE(two.ok());
  for (size_t i = 0; i < order.size(); ++i) {
    REQUIRE(two->engagement[i] == Approx(one->engagement[order[i]]).margin(1e-4));
  }
}

TEST_CASE("the contributions of an explanation sum to the score less the baseline") {
  const Setting& s = Ready();
  for (size_t i = 0; i < 20; ++i) {
    auto scores = s.ranker->Score(s.world.contexts[i], s.world.candidates[i], true, Deadline::Never());
    auto plain = s.ranker->Score(s.world.contexts[i], s.world.candidates[i], false, Deadline::Never());
    REQUIRE(scores.ok());
    REQUIRE(plain.ok());
    bool query_counts = false;
    for (size_t c = 0; c < 10; ++c) {
      CHECK(scores->engagement[c] == Approx(plain->engagement[c]).margin(1e-5));
      double sum = scores->baseline, interactions = 0;
      for (const Contribution& part : scores->explanations[c]) {
        sum += part.contribution;
        if (part.feature == "interactions") interactions = part.contribution;
        query_counts = query_counts || (part.feature == "query" && part.contribution != 0);
      }
      CHECK(sum == Approx(scores->engagement[c]).margin(1e-3));
      // The remainder of the integral is a remainder, not the explanation.
      const double explained = std::abs(double{scores->engagement[c]} - double{scores->baseline});
      CHECK(std::abs(interactions) < 0.1 * std::max(1.0, explained));
    }
    CHECK(query_counts);
  }
}

TEST_CASE("no history, no query, no candidates and unknown items are scored") {
  const Setting& s = Ready();
  RequestContext nobody;
  auto none = s.ranker->Score(nobody, {}, true, Deadline::Never());
  REQUIRE(none.ok());
  CHECK(none->engagement.empty());
  std::vector<Candidate> candidates(3);
  candidates[0].item = kNoItem;  // of a caller's own list
  candidates[1].item = 5000;     // written after the ranker was loaded
  candidates[2].item = 5;
  auto scores = s.ranker->Score(nobody, candidates, true, Deadline::Never());
  REQUIRE(scores.ok());
  for (float score : scores->engagement) CHECK(std::isfinite(score));
  auto one = s.ranker->Score(nobody, absl::MakeConstSpan(candidates).subspan(2), false, Deadline::Never());
  REQUIRE(one.ok());
  CHECK(one->engagement.size() == 1);
  CHECK(s.ranker->Score(nobody, ManyCandidates(2000), false, Deadline::Never()).ok());
  CHECK(absl::IsInvalidArgument(
      s.ranker->Score(nobody, std::vector<Candidate>(2001), false, Deadline::Never()).status()));
}

TEST_CASE("a deadline that has passed stops the ranker") {
  const Setting& s = Ready();
  CHECK(absl::IsDeadlineExceeded(
      s.ranker->Score(s.world.contexts[0], s.world.candidates[0], false, Deadline::At(absl::InfinitePast()))
          .status()));
  // A clock that moves on with each look: the second block comes too late.
  class Ticking : public Clock {
   public:
    absl::Time Now() const override { return absl::FromUnixSeconds(++ticks_); }

   private:
    mutable int ticks_ = 0;
  } clock;
  const absl::Status status = s.ranker
                                  ->Score(s.world.contexts[0], ManyCandidates(600), false,
                                          Deadline::At(absl::FromUnixSeconds(2), &clock))
                                  .status();
  REQUIRE(absl::IsDeadlineExceeded(status));
  CHECK(std::string(status.message()).find("256 of 600") != std::string::npos);
}

TEST_CASE("many threads get the scores that one gets") {
  const Setting& s = Ready();
  const std::vector<Candidate> candidates = ManyCandidates(100);
  const auto alone = s.ranker->Score(s.world.contexts[1], candidates, false, Deadline::Never());
  REQUIRE(alone.ok());
  std::vector<int> equal(4, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const auto scores = s.ranker->Score(s.world.contexts[1], candidates, i % 5 == 0, Deadline::Never());
        equal[t] += scores.ok() && scores->engagement == alone->engagement;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int e : equal) CHECK(e >= 16);  // explained ones may differ in the last bit
}

}  // namespace
}  // namespace waymark
