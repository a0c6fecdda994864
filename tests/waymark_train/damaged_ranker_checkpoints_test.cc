#include "tests/waymark_train/damaged_checkpoints.h"
#include "tests/waymark_train/launched_lists.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures

TEST_CASE("Flipped bytes and lost ends of any file of a ranker's checkpoint are found, too") {
  const ListTrainFolder folder;
  ExpectDamageIsPassedOver(folder, [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--processes", "2"});
    return folder.ListCommand("none", options);
  });
}

}  // namespace
}  // namespace waymark
