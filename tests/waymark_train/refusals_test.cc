// What waymark-train refuses before it trains, with the reason on every rank.
#include "tests/waymark_train/launched.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

TEST_CASE(
    "Too many ranks for the shards, a backend that is not built, and a package that exists are refused") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50, 2);
  const auto refused = [&](const std::vector<std::string>& options, const std::string& what) {
    auto run = folder.Start("run", folder.SmallCommand("package", options));
    const auto code = run->Wait(180);
    CHECK(code != 0);
    CHECK(code.has_value());
    CHECK_THAT(run->err(), Contains(what));
  };
  refused({"--processes", "3"}, "2 files for the 4 parts");
  refused({"--parts", "1", "--processes", "2"}, "--parts is 1, and there are 2 ranks");
  refused({"--dropout", "7"}, "'dropout' is 7");
  std::filesystem::create_directories(folder / "package");
  refused({"--parts", "2"}, "exists already");
  // Where the steps that are allowed may be more than there are.
  refused({"--parts", "2", "--epochs", "2", "--max-steps", "1000"}, "exists already");
  folder.Train("few", folder.SmallCommand("package", {"--parts", "2", "--max-steps", "2"}));
  refused({"--parts", "2", "--package", folder / "package/"}, "exists already");
}

TEST_CASE("--processes beside another word on which rank this is is refused, and nothing is trained") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  const auto refused = [&](const std::vector<std::string>& options,
                           const std::vector<std::string>& environment, const std::string& what) {
    Launched run(folder / "", "run", folder.SmallCommand("package", options), environment);
    CHECK(run.Wait(180) == 2);
    CHECK_THAT(run.err(), Contains("--processes starts the ranks itself") && Contains(what));
    CHECK_FALSE(std::filesystem::exists(folder / "package"));
  };
  const std::vector<std::string> two = {"--processes", "2"};
  for (const auto& [option, value] : {std::pair{"--rank", "1"},
                                      {"--world-size", "2"},
                                      {"--local-rank", "0"},
                                      {"--rendezvous", "127.0.0.1:1"},
                                      {"--launcher", "single"}}) {
    std::vector<std::string> options = two;
    options.insert(options.end(), {option, value});
    refused(options, {}, std::string(option) + " is for a rank");
  }
  refused(two, {"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=localhost"}, "rank 1 of 2 (torchrun");
  refused(two, {"SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_NTASKS=2", "SLURM_STEP_NODELIST=n1"}, "slurm");
  refused(two, {"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_LOCAL_SIZE=2"},
          "openmpi");
  refused({"--processes", "1"}, {"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=localhost"}, "rank 1 of 2 (torchrun");
}

TEST_CASE("Files that cannot be written are found before the training, and end every rank") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  std::ofstream(folder / "file") << "no folder";
  for (const char* option : {"--losses", "--report", "--events", "--package"}) {
    auto run = folder.Start(
        "run", folder.SmallCommand("package", {"--processes", "2", option, folder / "file/inside"}));
    CHECK(run->Wait(180) == 1);
    CHECK_THAT(run->err(), Contains("rank 0: ") && Contains("rank 1: ") && Contains("cannot write") &&
                               Contains("file") && !Contains("epoch 1"));
    CHECK_FALSE(std::filesystem::exists(folder / "package"));
  }
}

}  // namespace
}  // namespace waymark
