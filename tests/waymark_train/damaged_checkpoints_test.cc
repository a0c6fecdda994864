#include "tests/waymark_train/damaged_checkpoints.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures

TEST_CASE("Flipped bytes and lost ends of any file of a checkpoint are found, and the one before is used") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> runs = {
      {"data", {"--processes", "2"}},
      {"rows", {"--processes", "2", "--share-rows"}},
      {"optimizer", {"--processes", "2", "--shard-optimizer"}},
      {"tensor", {"--processes", "2", "--mesh", "tensor=2"}},
      {"pipeline", {"--processes", "2", "--mesh", "pipeline=2"}}};
  for (const auto& [name, ranks] : runs) {
    INFO(name);
    const TrainFolder folder(ChainHistories(200, 12, 61), 61);
    ExpectDamageIsPassedOver(folder, [&, &ranks = ranks](const std::vector<std::string>& options) {
      std::vector<std::string> all = ranks;
      all.insert(all.end(), {"--epochs", "5", "--patience", "5", "--blocks", "2"});
      all.insert(all.end(), options.begin(), options.end());
      return folder.SmallCommand("none", all);
    });
  }
}

}  // namespace
}  // namespace waymark
