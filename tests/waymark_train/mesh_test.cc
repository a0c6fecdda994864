// Models that several ranks hold together: blocks in parts, stages of a pipeline, shared moments.
#include "recommend/retriever.h"
#include "tests/waymark_train/launched.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

using Words = std::vector<std::string>;

TEST_CASE("On Amazon Beauty the losses of 50 steps on any mesh are those of one process") {
  if (!HaveData("amazon-beauty-5core")) return;
  const TrainFolder folder(BeautyHistories(), 12101);
  const auto run = [&](const std::string& name, Words options) {
    options.insert(options.end(), {"--max-steps", "50", "--losses", folder / name, "--timeout", "300"});
    // Ranks that wait for each other in every block are slow where many share a core.
    folder.Train(name, folder.Command("none", options), 900);
    return folder.Losses(name);
  };
  const std::vector<double> one = run("one", {});
  REQUIRE(one.size() == 50);
  for (const auto& [name, options] : std::vector<std::pair<std::string, Words>>{
           {"tensor", {"--processes", "2", "--mesh", "tensor=2"}},
           {"pipeline", {"--processes", "2", "--mesh", "pipeline=2"}},
           {"sharded", {"--processes", "2", "--shard-optimizer"}},
           {"recomputed", {"--checkpoint-activations"}},
           {"data-tensor", {"--processes", "4", "--mesh", "data=2,tensor=2", "--shard-optimizer"}},
           {"data-pipeline",
            {"--processes", "4", "--mesh", "data=2,pipeline=2", "--share-rows",
             "--checkpoint-activations"}}}) {
    const std::vector<double> losses = run(name, options);
    REQUIRE(losses.size() == 50);
    INFO(name);
    CHECK(LargestDifference(one, losses) < 1e-5);
  }
}

TEST_CASE("On any mesh the package has the weights that one process ends with, and serves") {
  const TrainFolder folder(ChainHistories(200, 12, 60), 60);
  const auto train = [&](const std::string& name, Words options) {
    options.insert(options.end(), {"--epochs", "3", "--heads", "4", "--blocks", "3", "--parts", "4",
                                   "--report", folder / (name + ".json")});
    folder.Train(name, folder.SmallCommand(name, options));
    const auto package = OpenModelPackage(folder / name);
    REQUIRE(package.ok());
    const MemoryDirectory items = PlainItems(60);
    CHECK(Retriever::Load(*package, &items).ok());
    return *ReadWeights(*package);
  };
  const TensorMap one = train("one", {});
  const double ndcg = folder.Report("one.json")["validation_ndcg10"];
  for (const auto& [name, options] : std::vector<std::pair<std::string, Words>>{
           {"tensor4", {"--processes", "4", "--mesh", "tensor=4"}},
           {"pipeline3", {"--processes", "3", "--mesh", "pipeline=3"}},
           {"data-tensor", {"--processes", "4", "--mesh", "data=2,tensor=2", "--share-rows"}},
           {"data-pipeline", {"--processes", "4", "--mesh", "pipeline=2", "--shard-optimizer"}},
           {"sharded3", {"--processes", "3", "--shard-optimizer", "--checkpoint-activations"}}}) {
    INFO(name);
    const TensorMap other = train(name, options);
    REQUIRE(other.size() == one.size());
    for (const auto& [tensor, data] : one) {
      INFO(tensor);
      const auto x = data.floats(), y = other.at(tensor).floats();
      REQUIRE(x.size() == y.size());
      double largest = 0;
      for (size_t i = 0; i < x.size(); ++i) largest = std::max<double>(largest, std::abs(x[i] - y[i]));
      CHECK(largest < 5e-3);
    }
    CHECK(folder.Report(name + ".json")["validation_ndcg10"].get<double>() == Approx(ndcg).margin(0.005));
  }
}

TEST_CASE(
    "A checkpoint of a mesh goes on on others and on one process, with the losses of one that was not "
    "stopped") {
  const TrainFolder folder(ChainHistories(200, 12, 61), 61);
  const Words model = {"--epochs", "3", "--heads", "4", "--blocks", "2", "--parts", "4"};
  const auto run = [&](const std::string& name, const Words& ranks, const std::string& end, Words options) {
    options.insert(options.end(), model.begin(), model.end());
    options.insert(options.end(), ranks.begin(), ranks.end());
    options.insert(options.end(), {"--max-steps", end, "--losses", folder / name});
    folder.Train(name, folder.SmallCommand("none", options));
    return folder.Losses(name);
  };
  const std::vector<double> straight = run("straight", {}, "24", {});
  REQUIRE(straight.size() == 24);
  size_t previous_end = 0;
  int number = 0;
  for (const auto& [ranks, end] : std::vector<std::pair<Words, size_t>>{
           {{"--processes", "4", "--mesh", "data=2,tensor=2", "--shard-optimizer"}, 4},
           {{}, 8},
           {{"--processes", "2", "--mesh", "pipeline=2"}, 12},
           {{"--processes", "3", "--shard-optimizer"}, 16},
           {{"--processes", "4", "--mesh", "tensor=4"}, 20},
           {{"--processes", "4", "--mesh", "pipeline=2", "--share-rows"}, 24}}) {
    const std::string name = "run" + std::to_string(number++);
    const std::vector<double> losses =
        run(name, ranks, std::to_string(end),
            {"--checkpoints", folder / "checkpoints", "--checkpoint-interval", "0"});
    INFO(name << " to step " << end);
    REQUIRE(losses.size() <= end);
    const size_t begin = end - losses.size();
    CHECK(begin == previous_end);
    for (size_t i = 0; i < losses.size(); ++i) CHECK(losses[i] == Approx(straight[begin + i]).epsilon(1e-5));
    previous_end = end;
  }
}

TEST_CASE("Meshes that there are not are refused by name, and nothing is trained") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  const auto refused = [&](const Words& options, const std::string& what) {
    auto run = folder.Start("run", folder.SmallCommand("package", options));
    const auto code = run->Wait(180);
    INFO(run->err());
    CHECK(code.value_or(0) > 0);
    CHECK_THAT(run->err(), Contains(what));
    CHECK_FALSE(std::filesystem::exists(folder / "package"));
  };
  refused({"--mesh", "tensor=2"}, "--mesh tensor=2 wants a multiple of 2 ranks, and there is one rank");
  refused({"--processes", "3", "--mesh", "data=1,tensor=2"},
          "--mesh data=1,tensor=2 wants 2 ranks, and there are 3 ranks");
  refused({"--processes", "4", "--mesh", "tensor=2,pipeline=2"}, "none of tensor and pipeline");
  refused({"--mesh", "expert=2"}, "--mesh has no axis 'expert'");
  refused({"--processes", "4", "--mesh", "tensor=4"}, "network.heads is 2, no multiple of it");
  refused({"--processes", "3", "--mesh", "pipeline=3"}, "network.blocks is 2");
  refused({"--processes", "2", "--mesh", "tensor=2", "--threads", "2"}, "leave out --threads");
  refused({"--processes", "2", "--mesh", "tensor=2", "--shard-optimizer"}, "--shard-optimizer divides among");
  refused({"--shard-optimizer"}, "--shard-optimizer divides among");
}

TEST_CASE("A model that is too large for a process's memory is refused there, and trains on a mesh") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  WARN("skipped: a sanitizer's shadow counts as memory of the process, terabytes of it");
  return;
#endif
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  const Words model = {"--width",     "768", "--heads", "8", "--blocks",       "4",
                       "--max-steps", "2",   "--parts", "4", "--batch-tokens", "64"};
  const auto start = [&](const std::string& name, Words options) {
    options.insert(options.end(), model.begin(), model.end());
    return folder.Start(name, folder.SmallCommand("none", options));
  };
  // Each block has 12 width^2 weights: 113 MB of them in all, and as much again for each moment and the
  // gradient of each part.
  auto central = start("central", {"--memory-limit", "650MB"});
  CHECK(central->Wait(180) == 1);
  CHECK_THAT(central->err(), Contains("rank 0 needs about") && Contains("--memory-limit allows 650 MiB") &&
                                 Contains("--mesh tensor=2 (about") && Contains("--mesh pipeline=2 (about") &&
                                 Contains("--shard-optimizer over 2 data ranks (about"));
  // It does not say so for nothing: the system's own limit ends it, too.
  Words limited = {"bash", "-c", "ulimit -d 665600; exec \"$@\"", "bash"};
  for (const std::string& word : folder.SmallCommand("none", model)) limited.push_back(word);
  auto by_system = folder.Start("system", limited);
  CHECK(by_system->Wait(120).value_or(0) > 0);
  for (const auto& [name, options] : std::vector<std::pair<std::string, Words>>{
           {"tensor", {"--processes", "2", "--mesh", "tensor=2"}},
           {"pipeline", {"--processes", "2", "--mesh", "pipeline=2"}},
           {"sharded", {"--processes", "2", "--shard-optimizer", "--checkpoint-activations"}}}) {
    Words of_run = options;
    of_run.insert(of_run.end(), {"--memory-limit", "650MB"});
    auto run = start(name, of_run);
    const auto code = run->Wait(240);
    INFO(name << ": " << run->err());
    CHECK(code == 0);
    CHECK_THAT(run->err(), Contains("parameters of --mesh"));
  }
}

}  // namespace
}  // namespace waymark
