// Ranks that are killed under a launcher that starts them again.
#include <random>

#include "tests/waymark_train/launchers.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures

// The ranks that run on these shards, by their command lines.
std::vector<pid_t> RanksOn(const std::filesystem::path& shards) {
  std::vector<pid_t> ranks;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::error_code error;
    const auto program = std::filesystem::read_symlink(entry.path() / "exe", error);
    if (error || program != WAYMARK_TRAIN_PROGRAM) continue;
    if (TextOf(entry.path() / "cmdline").find(shards.string()) != std::string::npos)
      ranks.push_back(std::stoi(name));
  }
  return ranks;
}

// The name of the newest whole checkpoint; empty: none.
std::string NewestIn(const std::filesystem::path& folder) {
  std::string newest;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".part") newest = std::max(newest, entry.path().filename().string());
  }
  return newest;
}

TEST_CASE(
    "Under torchrun with restarts, ranks that are killed 20 times end in the losses of a run without kills") {
  const std::string torchrun = FindTorchrun();
  if (torchrun.empty()) return;
  const TrainFolder folder(ChainHistories(600, 12, 60), 60);
  // Long enough for the kills; the last epochs no longer change the weights much.
  const std::vector<std::string> options = {"--epochs", "200", "--patience", "200"};
  std::vector<std::string> straight = options, killed = options;
  straight.insert(straight.end(), {"--processes", "2", "--report", folder / "straight.json"});
  folder.Train("straight", folder.SmallCommand("straight", straight));
  killed.insert(killed.end(), {"--report", folder / "killed.json", "--checkpoints", folder / "checkpoints",
                               "--checkpoint-interval", "0.2"});
  Launched run(folder / "", "run",
               Under({torchrun, "--no-python", "--nproc-per-node", "2", "--standalone", "--max-restarts",
                      "40", "--monitor-interval", "0.2"},
                     folder.SmallCommand("package", killed)));
  std::mt19937 random(7);
  int kills = 0;
  std::string newest;
  for (int tries = 0; tries < 6000 && kills < 20; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    // Some checkpoint further than at the last kill, and then any moment.
    const std::string now = NewestIn(folder / "checkpoints");
    if (now <= newest) continue;
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 600));
    const std::vector<pid_t> ranks = RanksOn(folder / "shards");
    if (ranks.size() < 2) continue;
    kills += kill(ranks[random() % ranks.size()], SIGKILL) == 0;
    newest = NewestIn(folder / "checkpoints");
  }
  const auto code = run.Wait(300);
  INFO(run.err().substr(run.err().size() > 3000 ? run.err().size() - 3000 : 0));
  REQUIRE(code == 0);
  CHECK(kills == 20);
  const auto a = folder.Report("straight.json"), b = folder.Report("killed.json");
  CHECK(b["resumed"] == true);
  REQUIRE(a["epoch_losses"].size() == b["epoch_losses"].size());
  for (size_t e = 0; e < a["epoch_losses"].size(); ++e) {
    CHECK(b["epoch_losses"][e].get<double>() == Approx(a["epoch_losses"][e].get<double>()).epsilon(1e-4));
  }
}

}  // namespace
}  // namespace waymark
