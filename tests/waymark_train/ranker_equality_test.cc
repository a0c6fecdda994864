// A ranker over ranks against one process, and against the trainer of `waymark train`.
#include "rank/attention_ranker.h"
#include "tests/waymark_train/launched_lists.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

TEST_CASE("The losses of 50 steps of a ranker are those of one process, bit for bit, on 2, 3 and 4 ranks") {
  for (const Rule rule : {Rule::kCategoryOfLastItem, Rule::kCategoryOfQuery}) {
    const ListTrainFolder folder(rule);
    const auto run = [&](const std::string& name, std::vector<std::string> options) {
      options.insert(options.end(), {"--max-steps", "50", "--losses", folder / name});
      folder.Train(name, folder.ListCommand("none", options));
      return folder.Losses(name);
    };
    const std::vector<double> one = run("one", {});
    REQUIRE(one.size() == 50);  // 12 batches an epoch: the fifth is under way
    CHECK(one.back() < one.front());
    for (const char* ranks : {"2", "3", "4"}) {
      const std::vector<double> several = run(std::string("ranks") + ranks, {"--processes", ranks});
      REQUIRE(several.size() == 50);
      INFO(ranks << " ranks");
      CHECK(LargestDifference(one, several) < 1e-5);
      CHECK(one == several);
    }
    // Another seed is another run.
    CHECK(LargestDifference(one, run("seed", {"--seed", "2"})) > 1e-3);
  }
}

TEST_CASE("Any number of ranks learns what one process learns, to a package that serves as it is") {
  const ListTrainFolder folder(Rule::kLargestFeature, 600);
  RankerTrainerOptions central;
  central.lists_per_batch = 25;
  central.max_epochs = central.patience = 6;
  const auto trained = TrainRanker(folder.train, folder.validation, folder.directory, central, nullptr, {});
  REQUIRE(trained.ok());
  const double ndcg = trained->metrics.at("validation_ndcg_at_10");
  for (const char* ranks : {"1", "2", "4"}) {
    const std::string name = std::string("ranks") + ranks;
    folder.Train(name, folder.ListCommand(name, {"--processes", ranks, "--report", folder / (name + ".json"),
                                                 "--losses", folder / (name + ".loss"), "--version", "r7"}));
    const auto report = folder.Report(name + ".json");
    INFO(report.dump());
    CHECK(report["validation_ndcg10"].get<double>() == Approx(ndcg).margin(0.02));
    CHECK(report["validation_ndcg10"] > 0.95);
    CHECK(report["ranks"] == std::stoi(ranks));
    CHECK(report["step_times"].size() == static_cast<size_t>(std::stoi(ranks)));
    // 600 lists in 24 batches, six times.
    CHECK(folder.Losses(name + ".loss").size() == 24 * 6);
    CHECK(report["lists"] == 600 * 6);

    const auto package = OpenModelPackage(folder / name);
    REQUIRE(package.ok());
    const storage::ModelManifest& manifest = package->manifest;
    CHECK(manifest.kind() == "ranker");
    CHECK(manifest.version() == "r7");
    CHECK(manifest.retriever_sha256() == std::string(64, 'a'));
    CHECK(manifest.features_sha256() == FeatureTable::Current().sha256());
    CHECK(manifest.features_size() == static_cast<int>(FeatureTable::Current().size()));
    CHECK(manifest.data().lists() == 600);
    CHECK(manifest.data().first_time() == "2020-01-01T00:00:00+00:00");
    CHECK(manifest.metrics().at("validation_lists") == 200);
    CHECK(package->content_sha256 == report["package_sha256"]);
    CHECK(manifest.network().at("items") == trained->config.items);
    CHECK_FALSE(LoadAttentionRanker(*package, &folder.directory, std::string(64, 'c')).ok());
    auto ranker = LoadAttentionRanker(*package, &folder.directory, std::string(64, 'a'));
    REQUIRE(ranker.ok());
    const World world = MakeWorld(Rule::kLargestFeature, 200, 0, 400, 3);
    int first = 0;
    for (size_t i = 0; i < 200; ++i) {
      auto scores = (*ranker)->Score(world.contexts[i], world.candidates[i], false, Deadline::Never());
      REQUIRE(scores.ok());
      const auto best = std::max_element(scores->engagement.begin(), scores->engagement.end());
      first += world.candidates[i][best - scores->engagement.begin()].item == world.targets[i];
    }
    CHECK(first > 180);  // one in ten by chance
  }
}

TEST_CASE("On the same number of ranks the same seed gives a ranker of the same bits, for any threads") {
  const ListTrainFolder folder;
  for (const auto& [name, threads] : {std::pair{"one", "1"}, {"again", "1"}, {"threads", "2"}}) {
    folder.Train(name, folder.ListCommand(name, {"--processes", "2", "--epochs", "2", "--threads", threads}));
  }
  const std::string one = *Sha256HexOfFile(folder / "one/weights.safetensors");
  CHECK(one == *Sha256HexOfFile(folder / "again/weights.safetensors"));
  CHECK(one == *Sha256HexOfFile(folder / "threads/weights.safetensors"));
}

TEST_CASE("A ranker's checkpoint of 4 ranks goes on on 2, 1 and 4 with the losses of a run without a stop") {
  const ListTrainFolder folder;
  folder.Train("straight",
               folder.ListCommand("none", {"--max-steps", "40", "--losses", folder / "straight"}));
  const std::vector<double> straight = folder.Losses("straight");
  REQUIRE(straight.size() == 40);
  size_t before = 0;
  // An epoch has 12 steps: stops within epochs, at the end of one, and after the best weights were kept.
  for (const auto& [ranks, end] : {std::pair{"4", 7}, {"2", 12}, {"1", 25}, {"4", 33}, {"3", 40}}) {
    folder.Train("run", folder.ListCommand(
                            "none", {"--processes", ranks, "--checkpoints", folder / "checkpoints",
                                     "--max-steps", std::to_string(end), "--losses", folder / "losses"}));
    const std::vector<double> losses = folder.Losses("losses");
    INFO(ranks << " ranks from step " << before);
    REQUIRE(losses.size() == static_cast<size_t>(end) - before);
    for (size_t i = 0; i < losses.size(); ++i) {
      CHECK(losses[i] == Approx(straight[before + i]).epsilon(1e-5));
    }
    before = static_cast<size_t>(end);
  }
  // To the end, and the package that a run without a stop makes.
  folder.Train("whole", folder.ListCommand("whole", {"--report", folder / "whole.json"}));
  folder.Train("pieces",
               folder.ListCommand("pieces", {"--processes", "2", "--checkpoints", folder / "checkpoints",
                                             "--report", folder / "pieces.json"}));
  const auto whole = folder.Report("whole.json"), pieces = folder.Report("pieces.json");
  CHECK(pieces["resumed"] == true);
  CHECK(pieces["best_epoch"] == whole["best_epoch"]);
  CHECK(pieces["validation_ndcg10"].get<double>() ==
        Approx(whole["validation_ndcg10"].get<double>()).margin(1e-4));
  REQUIRE(pieces["epoch_losses"].size() == whole["epoch_losses"].size());
  for (size_t e = 0; e < whole["epoch_losses"].size(); ++e) {
    CHECK(pieces["epoch_losses"][e].get<double>() ==
          Approx(whole["epoch_losses"][e].get<double>()).epsilon(1e-4));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "checkpoints"));
}

TEST_CASE("SIGTERM to one rank of a ranker's training writes a checkpoint, and the run goes on from it") {
  const ListTrainFolder folder;
  const std::string meeting = "127.0.0.1:" + std::to_string(FreePort());
  std::vector<std::unique_ptr<Launched>> ranks;
  for (const char* r : {"0", "1"}) {
    ranks.push_back(folder.Start(
        std::string("rank") + r,
        folder.ListCommand("package", {"--epochs", "900", "--patience", "900", "--checkpoints",
                                       folder / "checkpoints", "--losses", folder / "losses", "--rank", r,
                                       "--world-size", "2", "--rendezvous", meeting})));
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
  auto again = folder.Start(
      "again", folder.ListCommand("none", {"--epochs", "900", "--patience", "900", "--checkpoints",
                                           folder / "checkpoints", "--max-steps", std::to_string(done + 1)}));
  CHECK(again->Wait(180) == 0);
  CHECK_THAT(again->err(), Contains("step " + std::to_string(done)));
}

}  // namespace
}  // namespace waymark
