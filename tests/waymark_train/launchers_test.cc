// The launchers that are on this machine run the program; those that are not are named as skipped.
#include <random>

#include "tests/waymark_train/launched.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

// A program of the path, or of $WAYMARK_LAUNCHERS (a folder); empty: not there, and listed as skipped.
std::string FindProgram(const std::string& name) {
  std::string paths = std::getenv("PATH");
  if (const char* own = std::getenv("WAYMARK_LAUNCHERS")) paths = std::string(own) + ":" + paths;
  std::stringstream all(paths);
  for (std::string folder; std::getline(all, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  Skipped().push_back("no " + name + " in PATH or $WAYMARK_LAUNCHERS");
  return "";
}

// torchrun without the whole of torch does not start: LibTorch's own environment has such a one.
std::string FindTorchrun() {
  const std::string torchrun = FindProgram("torchrun");
  if (torchrun.empty()) return "";
  if (std::system((torchrun + " --help >/dev/null 2>&1").c_str()) == 0) return torchrun;
  Skipped().push_back(torchrun + " does not start");
  return "";
}

std::vector<std::string> Under(std::vector<std::string> launcher, const std::vector<std::string>& command) {
  launcher.insert(launcher.end(), command.begin(), command.end());
  return launcher;
}

void ExpectTrained(const TrainFolder& folder, Launched* run, const std::string& said, double seconds = 200) {
  const auto code = run->Wait(seconds);
  INFO(run->err());
  CHECK(code == 0);
  CHECK_THAT(run->err(), Contains(said));
  CHECK(OpenModelPackage(folder / "package").ok());
}

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

TEST_CASE("torchrun runs 2 and 4 ranks to a package") {
  const std::string torchrun = FindTorchrun();
  if (torchrun.empty()) return;
  for (const char* ranks : {"2", "4"}) {
    const TrainFolder folder(ChainHistories(200, 12, 60), 60);
    Launched run(folder / "", "run",
                 Under({torchrun, "--no-python", "--nproc-per-node", ranks, "--standalone"},
                       folder.SmallCommand("package", {"--epochs", "3"})));
    ExpectTrained(folder, &run, "(torchrun: RANK, WORLD_SIZE)");
  }
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

TEST_CASE("mpirun runs 2 ranks, over Gloo and over its own") {
  const std::string mpirun = FindProgram("mpirun");
  if (mpirun.empty()) return;
  const bool module = std::filesystem::exists(std::filesystem::path(WAYMARK_TRAIN_PROGRAM).parent_path() /
                                              "waymark_backend_mpi.so");
  for (const std::string backend : {"gloo", "mpi"}) {
    if (backend == "mpi" && !module) {
      Skipped().push_back("waymark_backend_mpi.so was not built");
      continue;
    }
    const TrainFolder folder(ChainHistories(200, 12, 60), 60);
    Launched run(
        folder / "", "run",
        Under({mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2"},
              folder.SmallCommand(
                  "package", {"--epochs", "3", "--backend", backend, "--report", folder / "report.json"})),
        // OpenMPI unloads its modules at the end, and the leak checker cannot tell whose memory it was.
        {"ASAN_OPTIONS=detect_leaks=0"});
    ExpectTrained(folder, &run, "(openmpi: OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)");
    CHECK(folder.Report("report.json")["backend"] == backend);
  }
}

TEST_CASE("mpirun runs meshes over MPI's own groups") {
  const std::string mpirun = FindProgram("mpirun");
  if (mpirun.empty()) return;
  if (!std::filesystem::exists(std::filesystem::path(WAYMARK_TRAIN_PROGRAM).parent_path() /
                               "waymark_backend_mpi.so")) {
    Skipped().push_back("waymark_backend_mpi.so was not built");
    return;
  }
  for (const std::string mesh : {"data=2,pipeline=2", "data=2,tensor=2"}) {
    INFO(mesh);
    const TrainFolder folder(ChainHistories(200, 12, 60), 60);
    Launched run(folder / "", "run",
                 Under({mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "4"},
                       folder.SmallCommand("package", {"--epochs", "3", "--backend", "mpi", "--mesh", mesh,
                                                       "--report", folder / "report.json"})),
                 {"ASAN_OPTIONS=detect_leaks=0"});
    ExpectTrained(folder, &run, "(openmpi: OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)");
    CHECK(folder.Report("report.json")["mesh"] == mesh);
  }
}

TEST_CASE("A backend whose module is not there, or has no devices, is one clear message") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  auto run = folder.Start("run", folder.SmallCommand("package", {"--processes", "2", "--backend", "nccl"}));
  CHECK(run->Wait(180) == 1);
  CHECK_THAT(run->err(), Contains("the backend 'nccl' is not built") ||
                             Contains("the backend 'nccl' cannot start") ||
                             Contains("the backend 'nccl' cannot be loaded"));
}

}  // namespace
}  // namespace waymark
