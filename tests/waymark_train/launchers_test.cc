// The launchers that are on this machine run the same job to a package that serves; those that are not are
// named as skipped. Slurm and Ray run in clusters of the test's own (launchers/).
#include "tests/waymark_train/launchers.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

bool HaveMpiBackend() {
  const auto program = std::filesystem::path(WAYMARK_TRAIN_PROGRAM);
  if (std::filesystem::exists(program.parent_path() / "waymark_backend_mpi.so")) return true;
  Skipped().push_back("waymark_backend_mpi.so was not built (libopenmpi-dev)");
  return false;
}

bool HaveSlurm() {
  for (const char* program : {"munged", "slurmctld", "slurmd", "srun"}) {
    if (FindProgram(program, "apt-get install slurm-wlm munge").empty()) return false;
  }
  return true;
}

// A Python with Ray; empty: none, and listed as skipped.
std::string FindRayPython() {
  const std::string remedy =
      "pip install ray into an environment, and WAYMARK_LAUNCHERS=ENVIRONMENT/bin runs it";
  const std::string python = FindProgram("python3", remedy);
  if (python.empty()) return "";
  if (std::system((python + " -c 'import ray' >/dev/null 2>&1").c_str()) == 0) return python;
  Skipped().push_back(python + " has no ray: " + remedy);
  return "";
}

// A cluster of the test's own for `command`; none: this machine does not let it be set apart.
std::unique_ptr<Launched> StartApart(const TrainFolder& folder, const std::string& name,
                                     std::vector<std::string> cluster,
                                     const std::vector<std::string>& command) {
  const std::filesystem::path apart = folder / (name + ".apart");
  std::filesystem::create_directories(apart);
  Launched probe(folder / "", name + ".probe", {kLauncherScripts / "apart.sh", apart, "probe", "--", "true"});
  if (const auto code = probe.Wait(60); code == kNoNamespaces) {
    Skipped().push_back(name + ": this machine lets no namespaces be made (unshare)");
    return nullptr;
  } else {
    INFO(probe.err());
    REQUIRE(code == 0);
  }
  cluster[0] = kLauncherScripts / cluster[0];
  cluster.insert(cluster.begin() + 1, apart);
  cluster.emplace_back("--");
  return std::make_unique<Launched>(folder / "", name, Under(cluster, command));
}

TEST_CASE("torchrun runs 2 and 4 ranks to a package that serves") {
  const std::string torchrun = FindTorchrun();
  if (torchrun.empty()) return;
  const LauncherJob& job = LauncherJob::Get();
  for (const int ranks : {2, 4}) {
    const std::string name = "torchrun" + std::to_string(ranks);
    Launched run(job.folder() / "", name,
                 Under({torchrun, "--no-python", "--nproc-per-node", std::to_string(ranks), "--standalone"},
                       job.Command(name)));
    job.ExpectPackage(name, &run, ranks, "(torchrun: RANK, WORLD_SIZE)");
  }
}

TEST_CASE("srun runs 2 ranks to a package that serves") {
  if (!HaveSlurm()) return;
  const LauncherJob& job = LauncherJob::Get();
  auto run =
      StartApart(job.folder(), "srun", {"slurm_cluster.sh"}, Under({"srun", "-n2"}, job.Command("srun")));
  if (run == nullptr) return;
  job.ExpectPackage("srun", run.get(), 2, "(slurm: SLURM_PROCID, SLURM_NTASKS)");
}

TEST_CASE("The batch script for Slurm runs 4 ranks on 2 nodes to a package") {
  if (!HaveSlurm()) return;
  const TrainFolder folder(ChainHistories(200, 12, 60), 60);
  const std::string out = folder / "job.out";
  auto run = StartApart(folder, "sbatch", {"slurm_cluster.sh"},
                        {"env",
                         "SHARDS=" + (folder / "shards").string(),
                         "PACKAGE=" + (folder / "package").string(),
                         "CHECKPOINTS=" + (folder / "checkpoints").string(),
                         std::string("WAYMARK_TRAIN=") + WAYMARK_TRAIN_PROGRAM,
                         "sbatch",
                         "--wait",
                         "--output",
                         out,
                         kDeployedScripts / "slurm.sbatch",
                         "--epochs",
                         "3",
                         "--width",
                         "32",
                         "--history",
                         "12",
                         "--batch-tokens",
                         "256",
                         "--timeout",
                         "60"});
  if (run == nullptr) return;
  const auto code = run->Wait(300);
  INFO(run->err() << TextOf(out));
  REQUIRE(code == 0);
  // Nodes n[1-2]: the ranks meet on the first.
  CHECK_THAT(TextOf(out),
             Contains("rank 3 of 4 (slurm: SLURM_PROCID, SLURM_NTASKS), local rank 1, meets at n1:"));
  CHECK(OpenModelPackage(folder / "package").ok());
}

TEST_CASE("mpirun runs 2 ranks to a package that serves, over Gloo and over its own") {
  const std::string mpirun = FindMpirun();
  if (mpirun.empty()) return;
  const LauncherJob& job = LauncherJob::Get();
  for (const std::string backend : {"gloo", "mpi"}) {
    if (backend == "mpi" && !HaveMpiBackend()) continue;
    const std::string name = "mpirun-" + backend;
    Launched run(
        job.folder() / "", name,
        Under({mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2"},
              job.Command(name, {"--backend", backend})),
        // OpenMPI unloads its modules at the end, and the leak checker cannot tell whose memory it was.
        {"ASAN_OPTIONS=detect_leaks=0"});
    job.ExpectPackage(name, &run, 2, "(openmpi: OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)");
    CHECK(job.folder().Report(name + ".json")["backend"] == backend);
  }
}

TEST_CASE("Ray runs 2 ranks to a package that serves, by the script that is shipped") {
  const std::string python = FindRayPython();
  if (python.empty()) return;
  const LauncherJob& job = LauncherJob::Get();
  const std::vector<std::string> command = job.Command("ray");
  auto run = StartApart(
      job.folder(), "ray", {"ray_head.sh", python},
      Under({python, kDeployedScripts / "ray_train.py", "--ranks", "2", "--program", command[0], "--"},
            {command.begin() + 1, command.end()}));
  if (run == nullptr) return;
  job.ExpectPackage("ray", run.get(), 2, "(torchrun: RANK, WORLD_SIZE)");
}

TEST_CASE("The manifests for Kubernetes hold nothing that their kinds do not know") {
  const std::string remedy =
      "pip install kubernetes-validate kubeflow-trainer-api into an environment, and "
      "WAYMARK_LAUNCHERS=ENVIRONMENT/bin checks them";
  const std::string python = FindProgram("python3", remedy);
  if (python.empty()) return;
  const TrainFolder folder;
  Launched check(folder / "", "check",
                 {python, kLauncherScripts / "check_manifests.py", kDeployedScripts / "kubernetes-job.yaml",
                  kDeployedScripts / "kubeflow-trainjob.yaml"});
  const auto code = check.Wait(120);
  constexpr int kNoPackages = 77;
  if (code == kNoPackages) return Skipped().push_back("manifests for Kubernetes: " + check.err() + remedy);
  INFO(check.err());
  CHECK(code == 0);
}

TEST_CASE("mpirun runs meshes over MPI's own groups") {
  const std::string mpirun = FindMpirun();
  if (mpirun.empty()) return;
  if (!HaveMpiBackend()) return;
  for (const std::string mesh : {"data=2,pipeline=2", "data=2,tensor=2"}) {
    INFO(mesh);
    const TrainFolder folder(ChainHistories(200, 12, 60), 60);
    Launched run(folder / "", "run",
                 Under({mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "4"},
                       folder.SmallCommand("package", {"--epochs", "3", "--backend", "mpi", "--mesh", mesh,
                                                       "--report", folder / "report.json"})),
                 {"ASAN_OPTIONS=detect_leaks=0"});
    const auto code = run.Wait(200);
    INFO(run.err());
    REQUIRE(code == 0);
    CHECK(OpenModelPackage(folder / "package").ok());
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
