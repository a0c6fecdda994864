// A ranker in bf16 with fp32 master weights against fp32, under waymark-train.
#include "rank/attention_ranker.h"
#include "tests/waymark_train/launched_lists.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures

TEST_CASE("In bf16 a ranker learns what it learns in fp32, on 1 and 2 ranks, to a package that serves") {
  const ListTrainFolder folder(Rule::kLargestFeature, 600);
  const auto run = [&](const std::string& name, std::vector<std::string> options) {
    options.insert(options.end(),
                   {"--losses", folder / (name + ".losses"), "--report", folder / (name + ".json")});
    folder.Train(name, folder.ListCommand(name, options));
    return folder.Losses(name + ".losses");
  };
  const std::vector<double> fp32 = run("fp32", {});
  REQUIRE(fp32.size() >= 20);
  for (const char* ranks : {"1", "2"}) {
    INFO(ranks << " ranks");
    const std::string name = std::string("bf16-") + ranks;
    const std::vector<double> bf16 = run(name, {"--precision", "bf16", "--processes", ranks});
    REQUIRE(bf16.size() == fp32.size());
    // The first steps are of nearly the same weights: products of factors with 8 significant bits.
    CHECK(LargestDifference({fp32.begin(), fp32.begin() + 5}, {bf16.begin(), bf16.begin() + 5}) < 1.0 / 64);
    CHECK(bf16 != fp32);
    CHECK(folder.Report(name + ".json")["validation_ndcg10"] > 0.95);
    const auto package = OpenModelPackage(folder / name);
    REQUIRE(package.ok());
    auto ranker = LoadAttentionRanker(*package, &folder.directory, std::string(64, 'a'));
    REQUIRE(ranker.ok());
    const World world = MakeWorld(Rule::kLargestFeature, 100, 0, 400, 3);
    int first = 0;
    for (size_t i = 0; i < 100; ++i) {
      auto scores = (*ranker)->Score(world.contexts[i], world.candidates[i], false, Deadline::Never());
      REQUIRE(scores.ok());
      const auto best = std::max_element(scores->engagement.begin(), scores->engagement.end());
      first += world.candidates[i][best - scores->engagement.begin()].item == world.targets[i];
    }
    CHECK(first > 90);  // one in ten by chance
  }
}

}  // namespace
}  // namespace waymark
