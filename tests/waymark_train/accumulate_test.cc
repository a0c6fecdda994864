// Gradient accumulation: the parts of a batch in micro-batches.
#include "absl/strings/str_join.h"
#include "tests/waymark_train/launched.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

TEST_CASE("Micro-batches give the losses of whole parts, dropout and all, on any number of ranks") {
  const TrainFolder folder(ChainHistories(200, 12, 50), 50);
  const auto losses = [&](const std::string& name, std::vector<std::string> options) {
    options.insert(options.end(), {"--max-steps", "16", "--losses", folder / name});
    folder.Train(name, folder.SmallCommand("none", options));
    return folder.Losses(name);
  };
  const std::vector<double> whole = losses("whole", {});
  REQUIRE(whole.size() == 16);
  // 64: more than a part has windows.
  const std::vector<std::vector<std::string>> ways = {
      {"--accumulate", "2"},
      {"--accumulate", "5"},
      {"--accumulate", "64"},
      {"--accumulate", "3", "--threads", "2"},
      {"--accumulate", "3", "--processes", "2"},
      {"--accumulate", "2", "--processes", "2", "--mesh", "tensor=2"},
      {"--accumulate", "2", "--checkpoint-activations"}};
  for (size_t i = 0; i < ways.size(); ++i) {
    INFO(absl::StrJoin(ways[i], " "));
    const std::vector<double> cut = losses("way" + std::to_string(i), ways[i]);
    REQUIRE(cut.size() == 16);
    CHECK(LargestDifference(whole, cut) < 1e-5);
  }
  CHECK(losses("one", {"--accumulate", "1"}) == whole);
  // The masks are drawn anew with another seed, so dropout is at work.
  CHECK(LargestDifference(whole, losses("dry", {"--dropout", "0"})) > 1e-3);
}

TEST_CASE("A model fits in micro-batches where whole parts do not") {
  const TrainFolder folder(ChainHistories(200, 12, 50), 50);
  const std::vector<std::string> large = {"--width",        "256",  "--blocks", "8", "--parts",     "1",
                                          "--batch-tokens", "4096", "--epochs", "1", "--max-steps", "1",
                                          "--memory-limit", "600MB"};
  auto whole = folder.Start("whole", folder.SmallCommand("none", large));
  CHECK(whole->Wait(120) == 1);
  CHECK_THAT(whole->err(), Contains("--memory-limit allows"));
  std::vector<std::string> cut = large;
  cut.insert(cut.end(), {"--accumulate", "16"});
  auto fits = folder.Start("cut", folder.SmallCommand("none", cut));
  const auto code = fits->Wait(120);
  INFO(fits->err());
  CHECK(code == 0);
}

TEST_CASE("Micro-batches of a pipeline's parts are refused by name") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  auto run = folder.Start("run", folder.SmallCommand("package", {"--processes", "2", "--mesh", "pipeline=2",
                                                                 "--accumulate", "2"}));
  CHECK(run->Wait(60) != 0);
  CHECK_THAT(run->err(), Contains("--accumulate") && Contains("--parts"));
}

}  // namespace
}  // namespace waymark
