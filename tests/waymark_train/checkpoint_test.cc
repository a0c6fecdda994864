#include "tests/waymark_train/launched.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

void FlipOneByte(const std::filesystem::path& file, int64_t from_end) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(-from_end, std::ios::end);
  const char byte = static_cast<char>(stream.get() ^ 1);
  stream.seekp(-from_end, std::ios::end);
  stream.put(byte);
}

// Ends after `steps` with checkpoints on the disk, as a run that was killed would leave them.
void RunToStep(const TrainFolder& folder, const std::string& name, const std::string& steps,
               const std::string& ranks, const std::vector<std::string>& more = {}) {
  std::vector<std::string> options = {
      "--processes",           ranks, "--epochs",    "3",   "--checkpoints", folder / "checkpoints",
      "--checkpoint-interval", "0",   "--max-steps", steps, "--losses",      folder / name};
  options.insert(options.end(), more.begin(), more.end());
  folder.Train(name, folder.SmallCommand("none", options));
}

TEST_CASE(
    "A checkpoint of 4 ranks goes on on 2 and on 1, and back, with the losses of a run that was not "
    "stopped") {
  for (const bool shared : {false, true}) {
    const TrainFolder folder(ChainHistories(200, 12, 61), 61);
    std::vector<std::string> more;
    if (shared) more.push_back("--share-rows");
    folder.Train("straight", folder.SmallCommand("none", {"--epochs", "3", "--max-steps", "24", "--losses",
                                                          folder / "straight"}));
    const std::vector<double> straight = folder.Losses("straight");
    REQUIRE(straight.size() == 24);
    std::vector<double> pieces;
    size_t previous_end = 0;
    int run = 0;
    for (const auto& [ranks, end] : {std::pair{"4", 6}, {"2", 11}, {"1", 16}, {"4", 20}, {"3", 24}}) {
      const std::string name = "run" + std::to_string(run++);
      RunToStep(folder, name, std::to_string(end), ranks, more);
      const std::vector<double> losses = folder.Losses(name);
      // A run without an end of its own has published what it began some steps before.
      REQUIRE(losses.size() <= static_cast<size_t>(end));
      const size_t begin = end - losses.size();
      INFO(ranks << " ranks from step " << begin);
      CHECK(begin <= previous_end);
      if (run > 1) CHECK(begin > 0);
      for (size_t i = 0; i < losses.size(); ++i) {
        CHECK(losses[i] == Approx(straight[begin + i]).epsilon(1e-5));
      }
      previous_end = end;
    }
  }
}

TEST_CASE("A damaged or half-written checkpoint is passed over for the one before, and named") {
  const TrainFolder folder(ChainHistories(200, 12, 50), 50);
  RunToStep(folder, "first", "20", "2");
  const auto checkpoints = CheckpointsIn(folder / "checkpoints");
  REQUIRE(checkpoints.size() >= 2);
  const std::filesystem::path newest = checkpoints.back(), before = checkpoints[checkpoints.size() - 2];
  std::string what;
  SECTION("a changed byte in a rank's file") {
    FlipOneByte(newest / "rank-00001.safetensors", 100);
    what = "rank-00001.safetensors does not have the SHA-256";
  }
  SECTION("a changed byte in the manifest") {
    const std::string text = TextOf(newest / "manifest.json");
    const size_t at = text.find("\"sha256\"") + 12;
    FlipOneByte(newest / "manifest.json", static_cast<int64_t>(text.size() - at));
    what = newest.filename().string();
  }
  SECTION("another number in the manifest, which is still one") {
    std::string text = TextOf(newest / "manifest.json");
    const size_t at = text.find("\"step\": \"20\"");
    REQUIRE(at != std::string::npos);
    text[at + 10] = '3';  // step 30
    std::ofstream(newest / "manifest.json") << text;
    what = "manifest.json and manifest.json.sha256 do not match";
  }
  SECTION("a file that is missing") {
    std::filesystem::remove(newest / "rank-00000.safetensors");
    what = "rank-00000.safetensors";
  }
  SECTION("no manifest") {
    std::filesystem::remove(newest / "manifest.json");
    what = "manifest.json";
  }
  auto run = folder.Start(
      "second", folder.SmallCommand("package", {"--processes", "2", "--epochs", "3", "--checkpoints",
                                                folder / "checkpoints", "--report", folder / "report.json"}));
  REQUIRE(run->Wait(120) == 0);
  CHECK_THAT(run->err(), Contains("a damaged checkpoint is passed over") && Contains(what));
  CHECK_THAT(run->err(), Contains("goes on from " + before.string()));
  CHECK(folder.Report("report.json")["resumed"] == true);
  // The package is written: they have done their work.
  CHECK_FALSE(std::filesystem::exists(folder / "checkpoints"));
}

TEST_CASE("Checkpoints of other options are refused; at most so many are kept") {
  const TrainFolder folder(ChainHistories(200, 12, 50), 50);
  RunToStep(folder, "first", "20", "2", {"--keep-checkpoints", "2"});
  CHECK(CheckpointsIn(folder / "checkpoints").size() == 2);
  auto run = folder.Start(
      "second", folder.SmallCommand("package", {"--epochs", "4", "--checkpoints", folder / "checkpoints"}));
  CHECK(run->Wait(180) == 1);
  CHECK_THAT(run->err(), Contains("belongs to a run with other shards or options"));
}

TEST_CASE("SIGTERM to any rank writes a checkpoint, and the run goes on from it") {
  const TrainFolder folder(ChainHistories(400, 12, 60), 60);
  const std::vector<std::string> options = {
      "--epochs",       "40", "--patience", "40", "--checkpoints", folder / "checkpoints", "--losses",
      folder / "losses"};
  const std::string meeting = "127.0.0.1:" + std::to_string(FreePort());
  std::vector<std::unique_ptr<Launched>> ranks;
  for (const char* r : {"0", "1"}) {
    std::vector<std::string> of_rank = options;
    of_rank.insert(of_rank.end(), {"--rank", r, "--world-size", "2", "--rendezvous", meeting});
    ranks.push_back(folder.Start(std::string("rank") + r, folder.SmallCommand("package", of_rank)));
  }
  for (int i = 0; i < 3600 && folder.Losses("losses").size() < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ranks[1]->Signal(SIGTERM);
  for (auto& rank : ranks) {
    CHECK(rank->Wait(180) == 1);
    CHECK_THAT(rank->err(), Contains("training was stopped") && Contains("goes on from the checkpoint"));
  }
  const size_t done = folder.Losses("losses").size();
  REQUIRE(CheckpointsIn(folder / "checkpoints").size() == 1);
  auto again = folder.Start("again", folder.SmallCommand("none", {"--epochs", "40", "--patience", "40",
                                                                  "--checkpoints", folder / "checkpoints",
                                                                  "--max-steps", std::to_string(done + 1)}));
  CHECK(again->Wait(180) == 0);
  CHECK_THAT(again->err(), Contains("step " + std::to_string(done)));
}

TEST_CASE("A rank that cannot write its checkpoint says so, and training goes on without one") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  std::ofstream(folder / "checkpoints") << "a file where the folder should be";
  auto run = folder.Start(
      "run", folder.SmallCommand(
                 "package", {"--processes", "2", "--epochs", "2", "--checkpoints", folder / "checkpoints",
                             "--checkpoint-interval", "0", "--report", folder / "report.json"}));
  CHECK(run->Wait(120) == 0);
  CHECK_THAT(run->err(), Contains("was not written: rank 0: ") && Contains("training goes on"));
  const auto report = folder.Report("report.json");
  CHECK(report["failed_checkpoints"] > 0);
  CHECK(report["checkpoints"] == 0);
  CHECK(std::filesystem::exists(folder / "package/manifest.json"));
}

}  // namespace
}  // namespace waymark
