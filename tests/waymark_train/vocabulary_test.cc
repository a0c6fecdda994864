// An item table whose rows items come to have and lose (--admit-after, --max-rows).
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "recommend/retriever.h"
#include "tests/waymark_train/launched.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

using Words = std::vector<std::string>;

// Some items are read far more often than others; all of them by somebody.
std::vector<HistoryExample> SkewedHistories(size_t users, size_t length, int64_t items) {
  std::vector<HistoryExample> histories;
  int64_t next = 0;
  for (size_t u = 0; u < users; ++u) {
    HistoryExample example;
    example.user = 100 + u;
    for (size_t e = 0; e < length; ++e) {
      const double x = RandomUnit(RandomKey(4, {u}), e);
      example.rows.push_back(e == 1 && next < items ? next++ : static_cast<int64_t>(items * x * x * x));
      example.times_us.push_back(60000000 * static_cast<int64_t>(length * u + e));
    }
    example.held_out = 1;
    histories.push_back(example);
  }
  return histories;
}

std::vector<int64_t> ReadsOf(const std::vector<HistoryExample>& histories, int64_t items) {
  std::vector<int64_t> reads(items, 0);
  for (const HistoryExample& h : histories) {
    for (size_t e = 0; e + h.held_out < h.rows.size(); ++e) ++reads[h.rows[e]];
  }
  return reads;
}

std::vector<double> LossesOf(const TrainFolder& folder, const std::string& name, const std::string& steps,
                             Words options) {
  options.insert(options.end(), {"--max-steps", steps, "--losses", folder / name});
  folder.Train(name, folder.SmallCommand("none", options));
  return folder.Losses(name);
}

TEST_CASE("Where every item that is read is admitted, and has room, every bit is as without the options") {
  const TrainFolder folder(SkewedHistories(150, 12, 61), 61);
  const auto train = [&](const std::string& name, Words options) {
    options.insert(options.end(), {"--epochs", "2", "--processes", "2", "--losses", folder / (name + ".loss"),
                                   "--report", folder / (name + ".json")});
    folder.Train(name, folder.SmallCommand(name, options));
    return *Sha256HexOfFile(folder / (name + "/weights.safetensors"));
  };
  const std::string plain = train("plain", {});
  CHECK(train("admitted", {"--admit-after", "1"}) == plain);
  CHECK(train("room", {"--admit-after", "1", "--max-rows", "61", "--evict", "recent"}) == plain);
  CHECK(folder.Losses("admitted.loss") == folder.Losses("plain.loss"));
  CHECK(folder.Losses("room.loss") == folder.Losses("plain.loss"));
  CHECK(train("later", {"--admit-after", "2"}) != plain);
  CHECK_FALSE(folder.Report("plain.json").contains("vocabulary"));
}

TEST_CASE("Losses with a table that admits and evicts are those of one process on any ranks and meshes") {
  const TrainFolder folder(SkewedHistories(200, 20, 80), 80);
  int number = 0;
  for (const Words& policy : std::vector<Words>{{"--admit-after", "3"},
                                                {"--max-rows", "20", "--evict", "recent"},
                                                {"--admit-after", "2", "--max-rows", "25"}}) {
    const auto losses = [&](Words options) {
      options.insert(options.end(), policy.begin(), policy.end());
      options.insert(options.end(), {"--heads", "2", "--blocks", "2", "--parts", "4", "--negatives", "40"});
      return LossesOf(folder, "run" + std::to_string(number++), "30", options);
    };
    const std::vector<double> one = losses({});
    REQUIRE(one.size() == 30);
    CHECK(one.back() < one.front());
    for (const Words& ranks :
         std::vector<Words>{{"--processes", "2"},
                            {"--processes", "4"},
                            {"--processes", "3", "--share-rows"},
                            {"--processes", "2", "--shard-optimizer"},
                            {"--processes", "2", "--mesh", "tensor=2"},
                            {"--processes", "4", "--mesh", "data=2,pipeline=2", "--share-rows"}}) {
      INFO(absl::StrJoin(policy, " ") << ": " << absl::StrJoin(ranks, " "));
      const std::vector<double> several = losses(ranks);
      REQUIRE(several.size() == 30);
      CHECK(LargestDifference(one, several) < 1e-5);
    }
  }
}

TEST_CASE("On Amazon Beauty the losses of 50 steps with half of the rows are those of one process") {
  if (!HaveData("amazon-beauty-5core")) return;
  const TrainFolder folder(BeautyHistories(), 12101);
  const auto run = [&](const std::string& name, Words options) {
    // The table is full after a few steps, and items leave it.
    options.insert(options.end(), {"--max-rows", "3000", "--evict", "recent", "--max-steps", "50", "--losses",
                                   folder / name, "--report", folder / (name + ".json")});
    folder.Train(name, folder.Command("none", options));
    return folder.Losses(name);
  };
  const std::vector<double> one = run("one", {});
  REQUIRE(one.size() == 50);
  CHECK(folder.Report("one.json")["vocabulary"]["evicted"] > 1000);
  CHECK(folder.Report("one.json")["item_table_bytes"] == 3000 * 64 * 3 * 4);
  for (const auto& [name, options] : std::vector<std::pair<std::string, Words>>{
           {"two", {"--processes", "2"}}, {"four", {"--processes", "4", "--share-rows"}}}) {
    INFO(name);
    CHECK(LargestDifference(one, run(name, options)) < 1e-5);
    CHECK(folder.Report(name + ".json")["vocabulary"] == folder.Report("one.json")["vocabulary"]);
  }
  CHECK(folder.Report("four.json")["item_table_bytes"] == 750 * 64 * 3 * 4);
}

TEST_CASE(
    "A checkpoint with a vocabulary goes on on other ranks with the losses of one that was not stopped") {
  const TrainFolder folder(SkewedHistories(200, 12, 61), 61);
  const Words model = {"--epochs", "4", "--parts", "4", "--admit-after", "2", "--max-rows", "20"};
  const auto losses = [&](const std::string& name, const std::string& end, Words options) {
    options.insert(options.end(), model.begin(), model.end());
    return LossesOf(folder, name, end, options);
  };
  const std::vector<double> straight = losses("straight", "32", {});
  REQUIRE(straight.size() == 32);
  size_t previous_end = 0;
  int number = 0;
  for (const auto& [ranks, end] :
       std::vector<std::pair<Words, size_t>>{{{"--processes", "4"}, 5},
                                             {{"--processes", "2", "--share-rows"}, 13},
                                             {{}, 18},
                                             {{"--processes", "2", "--mesh", "pipeline=2"}, 23},
                                             {{"--processes", "2", "--shard-optimizer"}, 28},
                                             {{"--processes", "3", "--share-rows"}, 32}}) {
    Words options = ranks;
    options.insert(options.end(), {"--checkpoints", folder / "checkpoints", "--checkpoint-interval", "0"});
    const std::vector<double> here = losses(absl::StrCat("run", number++), std::to_string(end), options);
    REQUIRE(here.size() <= end);
    const size_t begin = end - here.size();
    INFO("to step " << end << ", from " << begin);
    CHECK(begin == previous_end);
    for (size_t i = 0; i < here.size(); ++i) CHECK(here[i] == Approx(straight[begin + i]).epsilon(1e-5));
    previous_end = end;
  }
  // Another policy is another run.
  auto other = folder.Start(
      "other", folder.SmallCommand("none", {"--epochs", "4", "--parts", "4", "--admit-after", "2",
                                            "--max-rows", "21", "--checkpoints", folder / "checkpoints"}));
  CHECK(other->Wait(120) == 1);
  CHECK_THAT(other->err(), Contains("belongs to a run with other shards or options"));
}

TEST_CASE("The package names the items that have a row, and serves the others as items it has not seen") {
  constexpr int64_t kItems = 61;
  const auto histories = SkewedHistories(150, 12, kItems);
  const std::vector<int64_t> reads = ReadsOf(histories, kItems);
  const TrainFolder folder(histories, kItems);
  std::vector<std::string> expected;
  for (int64_t i = 0; i < kItems; ++i) {
    if (reads[i] >= 12) expected.push_back(absl::StrCat("item", i));
  }
  REQUIRE(expected.size() > 5);
  REQUIRE(expected.size() < 50);
  for (const char* ranks : {"1", "3"}) {
    const std::string name = std::string("ranks") + ranks;
    folder.Train(name, folder.SmallCommand(name, {"--processes", ranks, "--epochs", "3", "--admit-after",
                                                  "12", "--report", folder / (name + ".json")}));
    const auto package = OpenModelPackage(folder / name);
    REQUIRE(package.ok());
    CHECK(*ReadVocabulary(*package, "items") == expected);
    const auto used = folder.Report(name + ".json")["vocabulary"];
    CHECK(used["used"] == expected.size());
    CHECK(used["items"] == kItems);
    CHECK(used["evicted"] == 0);

    MemoryDirectory items = PlainItems(kItems);
    const ItemOrdinal never_seen = items.Add("never seen");
    const auto retriever = Retriever::Load(*package, &items);
    REQUIRE(retriever.ok());
    std::vector<ItemOrdinal> all(kItems + 1);
    for (ItemOrdinal i = 0; i <= kItems; ++i) all[i] = i;
    std::vector<float> vectors((kItems + 1) * 32);
    REQUIRE((*retriever)->EmbedItems(all, absl::MakeSpan(vectors)).ok());
    const auto vector_of = [&](int64_t i) {
      return std::vector<float>(vectors.begin() + i * 32, vectors.begin() + (i + 1) * 32);
    };
    for (int64_t i = 0; i < kItems; ++i) {
      CHECK((vector_of(i) == vector_of(never_seen)) == (reads[i] < 12));
    }
  }
}

TEST_CASE("The package's vocabulary is that of the best epoch, and no larger than the table") {
  const TrainFolder folder(SkewedHistories(200, 12, 61), 61);
  folder.Train("run", folder.SmallCommand("package", {"--processes", "2", "--epochs", "4", "--batch-tokens",
                                                      "32", "--max-rows", "16", "--evict", "recent",
                                                      "--share-rows", "--report", folder / "run.json"}));
  const auto package = OpenModelPackage(folder / "package");
  REQUIRE(package.ok());
  const auto named = ReadVocabulary(*package, "items");
  CHECK(named->size() == 16);
  CHECK(std::set<std::string>(named->begin(), named->end()).size() == 16);
  const auto report = folder.Report("run.json");
  CHECK(report["vocabulary"]["rows"] == 16);
  CHECK(report["vocabulary"]["used"] == 16);
  CHECK(report["vocabulary"]["evicted"] > 16);
  CHECK(report["vocabulary"]["admitted"].get<int64_t>() ==
        report["vocabulary"]["evicted"].get<int64_t>() + 16);
  CHECK(report["item_table_bytes"] == 8 * 32 * 3 * 4);
  CHECK(report["validation_ndcg10"] > 0.1);
}

TEST_CASE("On any mesh the package names the same items, with the weights that one process ends with") {
  const TrainFolder folder(SkewedHistories(200, 12, 61), 61);
  const auto train = [&](const std::string& name, Words options) {
    options.insert(options.end(), {"--epochs", "3", "--parts", "4", "--admit-after", "2", "--max-rows", "24",
                                   "--report", folder / (name + ".json")});
    folder.Train(name, folder.SmallCommand(name, options));
    return *OpenModelPackage(folder / name);
  };
  const ModelPackage one = train("one", {});
  const TensorMap expected = *ReadWeights(one);
  CHECK(expected.at("items.id").shape == std::vector<int64_t>{24, 32});
  for (const auto& [name, options] : std::vector<std::pair<std::string, Words>>{
           {"shared3", {"--processes", "3", "--share-rows"}},
           {"tensor", {"--processes", "2", "--mesh", "tensor=2"}},
           {"pipeline", {"--processes", "4", "--mesh", "data=2,pipeline=2", "--shard-optimizer"}}}) {
    INFO(name);
    const ModelPackage other = train(name, options);
    CHECK(*ReadVocabulary(other, "items") == *ReadVocabulary(one, "items"));
    CHECK(folder.Report(name + ".json")["vocabulary"] == folder.Report("one.json")["vocabulary"]);
    CHECK(folder.Report(name + ".json")["validation_ndcg10"].get<double>() ==
          Approx(folder.Report("one.json")["validation_ndcg10"].get<double>()).margin(0.005));
    const TensorMap weights = *ReadWeights(other);
    for (const auto& [tensor, data] : expected) {
      INFO(tensor);
      const auto x = data.floats(), y = weights.at(tensor).floats();
      REQUIRE(x.size() == y.size());
      double largest = 0;
      for (size_t i = 0; i < x.size(); ++i) largest = std::max<double>(largest, std::abs(x[i] - y[i]));
      CHECK(largest < 5e-3);
    }
  }
}

TEST_CASE("A package to start from gives its items the first rows") {
  const TrainFolder folder(SkewedHistories(150, 12, 61), 61);
  folder.Train("first", folder.SmallCommand("first", {"--epochs", "2"}));
  const auto first = [&](const std::string& name, Words options) {
    return LossesOf(folder, name, "1", options).at(0);
  };
  const double cold = first("cold", {}), warm = first("warm", {"--init-from", folder / "first"});
  CHECK(warm < cold - 0.1);
  // All of its items have rows: the first step is that of a table of all items.
  CHECK(first("all", {"--init-from", folder / "first", "--admit-after", "3"}) == warm);
  const double some = first("some", {"--init-from", folder / "first", "--max-rows", "40"});
  CHECK(some < cold);
  CHECK(some != warm);
}

TEST_CASE("Options of the vocabulary that do not go are refused by name, and nothing is trained") {
  const TrainFolder folder(SkewedHistories(100, 12, 50), 50);
  const auto refused = [&](const Words& options, const std::string& what) {
    auto run = folder.Start("run", folder.SmallCommand("package", options));
    const auto code = run->Wait(120);
    INFO(run->err());
    CHECK(code.value_or(0) > 0);
    CHECK_THAT(run->err(), Contains(what));
    CHECK_FALSE(std::filesystem::exists(folder / "package"));
  };
  refused({"--max-rows", "0"}, "--max-rows");
  refused({"--admit-after", "-1"}, "--admit-after");
  refused({"--max-rows", "10", "--evict", "random"}, "--evict");
  refused({"--evict", "recent"}, "--evict says which item leaves a table that is full");
  refused({"--admit-after", "100000"}, "no item was read 100000 times in an epoch");

  const std::string meeting = "127.0.0.1:" + std::to_string(FreePort());
  std::vector<std::unique_ptr<Launched>> ranks;
  for (const char* r : {"0", "1"}) {
    ranks.push_back(
        folder.Start(std::string("rank") + r,
                     folder.SmallCommand("package", {"--rank", r, "--world-size", "2", "--rendezvous",
                                                     meeting, "--max-rows", std::string("1") + r})));
  }
  for (auto& rank : ranks) {
    CHECK(rank->Wait(120) == 1);
    CHECK_THAT(rank->err(), Contains("rank 0 has «max-rows 10», rank 1 «max-rows 11»"));
  }
}

TEST_CASE("A table that is too large for a process's memory fits with fewer rows") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  WARN("skipped: a sanitizer's shadow counts as memory of the process, terabytes of it");
  return;
#endif
  constexpr int64_t kItems = 400000;  // 51 MB of ids of width 32, and twice that of moments
  const TrainFolder folder(SkewedHistories(100, 12, 50), kItems);
  const Words model = {"--negatives", "256", "--max-steps", "3", "--memory-limit", "250MB"};
  auto whole = folder.Start("whole", folder.SmallCommand("none", model));
  CHECK(whole->Wait(120) == 1);
  CHECK_THAT(whole->err(), Contains("rank 0 needs about"));
  Words fewer = model;
  fewer.insert(fewer.end(), {"--max-rows", "20000", "--report", folder / "fewer.json"});
  auto fits = folder.Start("fewer", folder.SmallCommand("none", fewer));
  const auto code = fits->Wait(120);
  INFO(fits->err());
  CHECK(code == 0);
  CHECK(folder.Report("fewer.json")["item_table_bytes"] == 20000 * 32 * 3 * 4);
}

}  // namespace
}  // namespace waymark
