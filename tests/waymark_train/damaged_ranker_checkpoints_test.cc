#include "tests/waymark_train/damaged_checkpoints.h"
#include "tests/waymark_train/launched_lists.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures

TEST_CASE("Flipped bytes and lost ends of any file of a ranker's checkpoint are found, too") {
  const ListTrainFolder folder;
  const auto command = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--processes", "2"});
    return folder.ListCommand("none", options);
  };
  folder.Train("straight", command({"--max-steps", "30", "--losses", folder / "straight"}));
  const std::vector<double> straight = folder.Losses("straight");
  REQUIRE(straight.size() == 30);
  folder.Train("first", command(ThirtySteps(folder)));
  ExpectDamageIsPassedOver(folder, straight, [&](const std::vector<std::string>& options) {
    return folder.Start("run", command(options));
  });
}

}  // namespace
}  // namespace waymark
