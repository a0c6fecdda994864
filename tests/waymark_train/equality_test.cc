#include "recommend/retriever.h"
#include "tests/support/sequences.h"
#include "tests/waymark_train/launched.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures

TEST_CASE(
    "On Amazon Beauty the losses of 50 steps are those of one process, on 2, 3 and 4 ranks and with shared "
    "rows") {
  if (!HaveData("amazon-beauty-5core")) return;
  const TrainFolder folder(BeautyHistories(), 12101);
  const auto run = [&](const std::string& name, std::vector<std::string> options) {
    options.insert(options.end(), {"--max-steps", "50", "--losses", folder / name, "--timeout", "60"});
    folder.Train(name, folder.Command("none", options));
    return folder.Losses(name);
  };
  const std::vector<double> one = run("one", {});
  REQUIRE(one.size() == 50);
  CHECK(one.back() < one.front());
  for (const char* ranks : {"2", "3", "4"}) {
    const std::vector<double> several = run(std::string("ranks") + ranks, {"--processes", ranks});
    REQUIRE(several.size() == 50);
    INFO(ranks << " ranks");
    CHECK(LargestDifference(one, several) < 1e-5);
  }
  const std::vector<double> shared = run("shared", {"--processes", "2", "--share-rows"});
  REQUIRE(shared.size() == 50);
  CHECK(LargestDifference(one, shared) < 1e-5);
  // Another seed is another run.
  CHECK(LargestDifference(one, run("seed", {"--seed", "2"})) > 1e-3);
}

TEST_CASE("Any number of ranks learns the chain that one process learns, to a package that serves") {
  const TrainFolder folder(ChainHistories(400, 12, 60), 60);
  std::vector<double> first;
  for (const char* ranks : {"1", "2", "3"}) {
    const std::string name = std::string("ranks") + ranks;
    folder.Train(
        name, folder.SmallCommand(name, {"--processes", ranks, "--epochs", "12", "--report",
                                         folder / (name + ".json"), "--losses", folder / (name + ".loss")}));
    const auto report = folder.Report(name + ".json");
    // At best .815, as retriever_trainer_test works out.
    CHECK(report["validation_ndcg10"] > 0.7);
    CHECK(report["validation_ndcg10"] < 0.9);
    CHECK(report["ranks"] == std::stoi(ranks));
    CHECK(report["step_times"].size() == static_cast<size_t>(std::stoi(ranks)));
    // Every step of every epoch, the last and uneven ones too.
    const std::vector<double> losses = folder.Losses(name + ".loss");
    if (first.empty()) first = losses;
    CHECK(losses.size() == first.size());
    CHECK(LargestDifference(first, losses) < 1e-3);

    const auto package = OpenModelPackage(folder / name);
    REQUIRE(package.ok());
    CHECK(package->manifest.kind() == "retriever");
    CHECK(package->manifest.data().items() == 60);
    CHECK(package->content_sha256 == report["package_sha256"]);
    const MemoryDirectory items = PlainItems(60);
    const auto retriever = Retriever::Load(*package, &items);
    REQUIRE(retriever.ok());
    std::vector<ItemOrdinal> all(60);
    for (ItemOrdinal i = 0; i < 60; ++i) all[i] = i;
    std::vector<float> vectors(60 * 32), user(32);
    REQUIRE((*retriever)->EmbedItems(all, absl::MakeSpan(vectors)).ok());
    int found = 0;
    for (ItemOrdinal last = 0; last < 60; ++last) {
      std::vector<HistoryEvent> history(1);
      history[0].item = last;
      REQUIRE((*retriever)->EncodeUser(history, absl::UnixEpoch(), absl::MakeSpan(user)).ok());
      std::vector<std::pair<float, ItemOrdinal>> scored;
      for (ItemOrdinal i = 0; i < 60; ++i) {
        float score = 0;
        for (int c = 0; c < 32; ++c) score += user[c] * vectors[i * 32 + c];
        scored.push_back({-score, i});
      }
      std::sort(scored.begin(), scored.end());
      for (int k = 0; k < 2; ++k) {
        const ItemOrdinal i = scored[k].second;
        found += i == (last * 7 + 3) % 60 || i == (last * 7 + 8) % 60;
      }
    }
    CHECK(found > 100);  // of 120
  }
}

TEST_CASE("Shared rows end in the package of copied ones, and a rank holds its share alone") {
  const TrainFolder folder(ChainHistories(200, 12, 61), 61);
  folder.Train("copied", folder.SmallCommand("copied", {"--processes", "2", "--epochs", "3", "--report",
                                                        folder / "copied.json"}));
  folder.Train("shared", folder.SmallCommand("shared", {"--processes", "2", "--epochs", "3", "--share-rows",
                                                        "--report", folder / "shared.json"}));
  const auto copied = folder.Report("copied.json"), shared = folder.Report("shared.json");
  CHECK(copied["item_table_bytes"] == 61 * 32 * 3 * 4);
  CHECK(shared["item_table_bytes"] == 31 * 32 * 3 * 4);
  CHECK(shared["validation_ndcg10"].get<double>() ==
        Approx(copied["validation_ndcg10"].get<double>()).margin(0.005));
  const auto a = ReadWeights(*OpenModelPackage(folder / "copied")),
             b = ReadWeights(*OpenModelPackage(folder / "shared"));
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  const auto x = a->at("items.id").floats(), y = b->at("items.id").floats();
  REQUIRE(x.size() == y.size());
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) largest = std::max<double>(largest, std::abs(x[i] - y[i]));
  CHECK(largest < 5e-3);
}

TEST_CASE("On the same number of ranks the same seed gives the same bits, for any number of threads") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  for (const auto& [name, threads] : {std::pair{"one", "1"}, {"again", "1"}, {"threads", "2"}}) {
    folder.Train(name,
                 folder.SmallCommand(name, {"--processes", "2", "--epochs", "2", "--threads", threads}));
  }
  const std::string one = *Sha256HexOfFile(folder / "one/weights.safetensors");
  CHECK(one == *Sha256HexOfFile(folder / "again/weights.safetensors"));
  CHECK(one == *Sha256HexOfFile(folder / "threads/weights.safetensors"));
}

}  // namespace
}  // namespace waymark
