// The launchers that this machine can start, and the job that each of them runs to a package.
#pragma once
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "recommend/retriever.h"
#include "tests/waymark_train/launched.h"

namespace waymark::tests {

inline const std::filesystem::path kLauncherScripts =
    std::filesystem::path(WAYMARK_SOURCE_DIR) / "tests/waymark_train/launchers";
inline const std::filesystem::path kDeployedScripts =
    std::filesystem::path(WAYMARK_SOURCE_DIR) / "deploy/training";
constexpr int kNoNamespaces = 77;  // the code of launchers/apart.sh

// A program of $WAYMARK_LAUNCHERS (a folder), the path or /usr/sbin. Empty: not there, and listed as skipped
// with `remedy`.
inline std::string FindProgram(const std::string& name, const std::string& remedy) {
  std::string paths = std::getenv("PATH") + std::string(":/usr/sbin");
  if (const char* own = std::getenv("WAYMARK_LAUNCHERS")) paths = std::string(own) + ":" + paths;
  std::stringstream all(paths);
  for (std::string folder; std::getline(all, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  Skipped().push_back("no " + name + " in PATH or $WAYMARK_LAUNCHERS: " + remedy);
  return "";
}

// torchrun without the whole of torch does not start: LibTorch's own environment has such a one.
inline std::string FindTorchrun() {
  const std::string remedy =
      "pip install torch into an environment, and WAYMARK_LAUNCHERS=ENVIRONMENT/bin runs it";
  const std::string torchrun = FindProgram("torchrun", remedy);
  if (torchrun.empty()) return "";
  if (std::system((torchrun + " --help >/dev/null 2>&1").c_str()) == 0) return torchrun;
  Skipped().push_back(torchrun + " does not start: " + remedy);
  return "";
}

inline std::string FindMpirun() { return FindProgram("mpirun", "apt-get install openmpi-bin"); }

inline std::vector<std::string> Under(std::vector<std::string> launcher,
                                      const std::vector<std::string>& command) {
  launcher.insert(launcher.end(), command.begin(), command.end());
  return launcher;
}

// One epoch of Amazon Beauty, or of a chain where that is not on this machine: trained once on two processes,
// which is what launchers are held to.
class LauncherJob {
 public:
  static const LauncherJob& Get() {
    static const LauncherJob job;
    return job;
  }

  const TrainFolder& folder() const { return folder_; }
  std::vector<std::string> Command(const std::string& name,
                                   const std::vector<std::string>& options = {}) const {
    std::vector<std::string> all = {
        "--epochs", "1",        "--validation-users",       "2000",     "--timeout",
        "60",       "--report", folder_ / (name + ".json"), "--losses", folder_ / (name + ".losses")};
    all.insert(all.end(), options.begin(), options.end());
    return beauty_ ? folder_.Command(name, all) : folder_.SmallCommand(name, all);
  }
  // It has ended well, says who launched it, and its package serves.
  void ExpectPackage(const std::string& name, Launched* run, int ranks, const std::string& said) const {
    const auto code = run->Wait(400);
    INFO(run->out() << run->err());
    REQUIRE(code == 0);
    CHECK_THAT(run->out() + run->err(), Catch::Matchers::Contains(said));
    CHECK(folder_.Report(name + ".json")["ranks"] == ranks);
    ExpectServes(name);
    // A package names the time that it was made at; the losses of as many ranks are the same bits.
    const std::vector<double> losses = folder_.Losses(name + ".losses");
    REQUIRE(losses.size() == reference_.size());
    REQUIRE(losses.size() >= kEqualSteps);
    if (ranks == 2) CHECK(losses == reference_);
    CHECK(LargestDifference({reference_.begin(), reference_.begin() + kEqualSteps},
                            {losses.begin(), losses.begin() + kEqualSteps}) < 1e-5);
  }

 private:
  static constexpr size_t kEqualSteps = 50;

  LauncherJob()
      : beauty_(HaveData("amazon-beauty-5core")),
        items_(beauty_ ? 12101 : 60),
        histories_(beauty_ ? BeautyHistories() : ChainHistories(1200, 12, 60)),
        folder_(histories_, items_) {
    folder_.Train("reference", Command("reference", {"--processes", "2"}), 400);
    reference_ = folder_.Losses("reference.losses");
    ExpectServes("reference");
  }

  void ExpectServes(const std::string& name) const {
    const auto package = OpenModelPackage(folder_ / name);
    REQUIRE(package.ok());
    const MemoryDirectory items = PlainItems(static_cast<ItemOrdinal>(items_));
    const auto retriever = Retriever::Load(*package, &items);
    REQUIRE(retriever.ok());
    std::vector<HistoryEvent> history;
    for (size_t e = 0; e < histories_[0].rows.size(); ++e) {
      HistoryEvent event;
      event.item = static_cast<ItemOrdinal>(histories_[0].rows[e]);
      event.time = absl::FromUnixMicros(histories_[0].times_us[e]);
      history.push_back(event);
    }
    std::vector<float> user((*retriever)->width());
    REQUIRE((*retriever)->EncodeUser(history, absl::Now(), absl::MakeSpan(user)).ok());
    double squares = 0;
    for (const float x : user) squares += double{x} * x;
    CHECK(squares == Approx(1).epsilon(1e-4));
  }

  bool beauty_;
  int64_t items_;
  std::vector<HistoryExample> histories_;
  TrainFolder folder_;
  std::vector<double> reference_;  // its loss in each step
};

}  // namespace waymark::tests
