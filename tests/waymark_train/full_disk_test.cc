// A disk that is full when a checkpoint is written: the rank says so, training goes on or stops cleanly, and
// checkpoints are written again when there is room.
#include "tests/support/small_disk.h"
#include "tests/waymark_train/launched.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

template <typename Condition>
bool Within(double seconds, Condition condition) {
  for (int i = 0; i < static_cast<int>(seconds * 20); ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

TEST_CASE("Training goes on over a full disk, and writes checkpoints again when there is room") {
  SmallDisk disk("size=64m");
  if (!disk.mounted()) return;
  const TrainFolder folder(ChainHistories(200, 12, 60), 60);
  const std::filesystem::path checkpoints = disk.path() / "checkpoints";
  const auto command = [&](const std::string& package, const std::vector<std::string>& more) {
    std::vector<std::string> options = {
        "--processes",           "2",  "--epochs", "400", "--patience", "400", "--checkpoints", checkpoints,
        "--checkpoint-interval", "0.1"};
    options.insert(options.end(), more.begin(), more.end());
    return folder.SmallCommand(package, options);
  };
  disk.Fill();
  auto run = folder.Start("run", command("package", {}));
  REQUIRE(Within(240, [&] { return run->err().find("training goes on") != std::string::npos; }));
  CHECK_THAT(run->err(), Contains("was not written: rank ") && Contains("No space left on device"));
  CHECK(CheckpointsIn(checkpoints).empty());
  disk.Free();
  REQUIRE(Within(240, [&] { return !CheckpointsIn(checkpoints).empty(); }));
  // Full again: the last good ones stay, whatever is tried.
  disk.Fill();
  const size_t said = run->err().size();
  REQUIRE(Within(240, [&] { return run->err().find("training goes on", said) != std::string::npos; }));
  REQUIRE_FALSE(CheckpointsIn(checkpoints).empty());
  // Stopped while it is full: the reason is said, and what was written before is gone on from.
  run->Signal(SIGTERM);
  CHECK(run->Wait(180) == 1);
  CHECK_THAT(run->err(), Contains("training was stopped") && Contains("No space left on device"));
  disk.Free();
  const std::string newest = CheckpointsIn(checkpoints).back().string();
  auto again = folder.Start("again", command("none", {"--max-steps", "1000000"}));
  CHECK(Within(240, [&] { return again->err().find("goes on from " + newest) != std::string::npos; }));
  again->Signal(SIGTERM);
  CHECK(again->Wait(180) == 1);
  CHECK_THAT(again->err(), Contains("goes on from the checkpoint in"));
}

TEST_CASE("A package is written where only the checkpoints' disk is full") {
  SmallDisk disk("size=8m");
  if (!disk.mounted()) return;
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  disk.Fill();
  folder.Train("run", folder.SmallCommand("package", {"--processes", "2", "--epochs", "2", "--checkpoints",
                                                      disk.path() / "checkpoints", "--checkpoint-interval",
                                                      "0", "--report", folder / "report.json"}));
  const auto report = folder.Report("report.json");
  CHECK(report["failed_checkpoints"] > 0);
  CHECK(report["checkpoints"] == 0);
  CHECK(OpenModelPackage(folder / "package").ok());
}

}  // namespace
}  // namespace waymark
