// Item and content tables whose rows lie over the ranks, of items that have content.
#include "tests/waymark_train/launched.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;
using Options = std::vector<std::string>;

// A class of its neighbours, and a word of its own for every third item.
std::vector<uint64_t> WordsOfItem(int64_t item) {
  std::vector<uint64_t> words = {1000 + static_cast<uint64_t>(item) / 5,
                                 2000 + static_cast<uint64_t>(item) % 2};
  if (item % 3 == 0) words.push_back(3000 + static_cast<uint64_t>(item));
  return words;
}

TrainFolder FolderWithContent(size_t users = 200) {
  WrittenBy by;
  by.content = WordsOfItem;
  return TrainFolder(ChainHistories(users, 12, 61), 61, 8, by);
}

Options With(Options options, const Options& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

double LargestGap(const TensorMap& a, const TensorMap& b) {
  double largest = 0;
  for (const auto& [name, data] : a) {
    const auto x = data.floats(), y = b.at(name).floats();
    REQUIRE(x.size() == y.size());
    for (size_t i = 0; i < x.size(); ++i) largest = std::max<double>(largest, std::abs(x[i] - y[i]));
  }
  return largest;
}

TEST_CASE("With content the losses of 50 steps are those of one process, copied, shared and on meshes") {
  const TrainFolder folder = FolderWithContent();
  const auto run = [&](const std::string& name, const Options& options) {
    folder.Train(name, folder.SmallCommand("none", With(options, {"--max-steps", "50", "--epochs", "20",
                                                                  "--losses", folder / name})));
    return folder.Losses(name);
  };
  const std::vector<double> one = run("one", {});
  REQUIRE(one.size() == 50);
  CHECK(one.back() < one.front());
  for (const auto& [name, options] : std::vector<std::pair<std::string, Options>>{
           {"copied", {"--processes", "2"}},
           {"shared1", {"--share-rows"}},
           {"shared2", {"--processes", "2", "--share-rows"}},
           {"shared3", {"--processes", "3", "--share-rows"}},
           {"shared4", {"--processes", "4", "--share-rows", "--shard-optimizer"}},
           {"tensor", {"--processes", "4", "--mesh", "data=2,tensor=2", "--share-rows"}},
           {"pipeline", {"--processes", "4", "--mesh", "data=2,pipeline=2", "--share-rows"}}}) {
    INFO(name);
    const std::vector<double> several = run(name, options);
    REQUIRE(several.size() == 50);
    CHECK(LargestDifference(one, several) < 1e-5);
  }
}

TEST_CASE("Shared tables end in the package of whole ones; a rank holds its share, which the table says") {
  const TrainFolder folder = FolderWithContent();
  const auto train = [&](const std::string& name, const Options& options) {
    auto run = folder.Start(
        name,
        folder.SmallCommand(name, With(options, {"--epochs", "3", "--report", folder / (name + ".json")})));
    const auto code = run->Wait(240);
    INFO(run->err());
    REQUIRE(code == 0);
    return run->err();
  };
  train("one", {});
  const TensorMap expected = *ReadWeights(*OpenModelPackage(folder / "one"));
  const int64_t ids = 61 * 32, content = expected.at("content.buckets").floats().size();
  CHECK(expected.at("content.buckets").shape[1] == 32);
  CHECK(folder.Report("one.json")["tables_bytes"] == (ids + content) * 3 * 4);
  for (const int ranks : {2, 4}) {
    const std::string name = "shared" + std::to_string(ranks);
    const std::string said = train(name, {"--processes", std::to_string(ranks), "--share-rows"});
    // Of the first rank, which has one row more where they do not divide.
    const int64_t own_ids = (61 + ranks - 1) / ranks * 32;
    CHECK(folder.Report(name + ".json")["item_table_bytes"] == own_ids * 3 * 4);
    CHECK(folder.Report(name + ".json")["tables_bytes"] == (own_ids + content / ranks) * 3 * 4);
    const std::string where = "rows, over the " + std::to_string(ranks) + " ranks of data";
    const size_t table = said.find("content.buckets"), of_items = said.find("items.id");
    REQUIRE(table != std::string::npos);
    REQUIRE(of_items != std::string::npos);
    CHECK_THAT(said.substr(table, said.find('\n', table) - table), Contains(where));
    CHECK_THAT(said.substr(of_items, said.find('\n', of_items) - of_items), Contains(where));
    CHECK(LargestGap(expected, *ReadWeights(*OpenModelPackage(folder / name))) < 5e-3);
    CHECK(folder.Report(name + ".json")["validation_ndcg10"].get<double>() ==
          Approx(folder.Report("one.json")["validation_ndcg10"].get<double>()).margin(0.005));
  }
}

TEST_CASE("Shared tables with content go on on other ranks, and without sharing, from one checkpoint") {
  const TrainFolder folder = FolderWithContent();
  folder.Train("straight", folder.SmallCommand("none", {"--epochs", "4", "--max-steps", "30", "--losses",
                                                        folder / "straight"}));
  const std::vector<double> straight = folder.Losses("straight");
  REQUIRE(straight.size() == 30);
  size_t before = 0;
  for (const auto& [options, end] : std::vector<std::pair<Options, size_t>>{
           {{"--processes", "4", "--share-rows"}, 5},
           {{"--processes", "2", "--share-rows"}, 11},
           {{}, 15},
           {{"--processes", "4", "--share-rows", "--shard-optimizer"}, 20},
           {{"--processes", "4", "--mesh", "data=2,pipeline=2", "--share-rows"}, 25},
           {{"--processes", "3", "--share-rows"}, 30}}) {
    folder.Train("run", folder.SmallCommand(
                            "none", With(options, {"--epochs", "4", "--checkpoints", folder / "checkpoints",
                                                   "--parts", "4", "--max-steps", std::to_string(end),
                                                   "--losses", folder / "losses"})));
    const std::vector<double> losses = folder.Losses("losses");
    INFO("from step " << before);
    REQUIRE(losses.size() == end - before);
    for (size_t i = 0; i < losses.size(); ++i) {
      CHECK(losses[i] == Approx(straight[before + i]).epsilon(1e-5));
    }
    before = end;
  }
}

TEST_CASE("A package to start from is taken in shares, and its content table goes on being trained") {
  const TrainFolder folder = FolderWithContent();
  folder.Train("first", folder.SmallCommand("first", {"--epochs", "2"}));
  const auto losses = [&](const std::string& name, const Options& options) {
    folder.Train(
        name, folder.SmallCommand("none", With(options, {"--max-steps", "10", "--losses", folder / name})));
    return folder.Losses(name);
  };
  const Options from = {"--init-from", folder / "first"};
  const std::vector<double> cold = losses("cold", {}), warm = losses("warm", from);
  CHECK(warm[0] < cold[0] - 0.1);
  for (const char* ranks : {"2", "3"}) {
    const auto shared =
        losses(std::string("shared") + ranks, With(from, {"--processes", ranks, "--share-rows"}));
    REQUIRE(shared.size() == warm.size());
    CHECK(LargestDifference(warm, shared) < 1e-5);
  }
  folder.Train("second", folder.SmallCommand("second", With(from, {"--epochs", "1"})));
  const TensorMap before = *ReadWeights(*OpenModelPackage(folder / "first")),
                  after = *ReadWeights(*OpenModelPackage(folder / "second"));
  CHECK(LargestGap({{"content.buckets", before.at("content.buckets")}}, after) > 1e-3);
}

TEST_CASE(
    "Tables that are too large for a process's memory are trained over ranks, validation and package too") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  WARN("skipped: a sanitizer's shadow counts as memory of the process, terabytes of it");
  return;
#endif
  constexpr int64_t kItems = 400000;  // 51 MB of ids of width 32, 102 of moments, 51 of the best epoch's
  const TrainFolder folder(ChainHistories(100, 12, 61), kItems);
  const Options model = {"--negatives", "256", "--epochs", "2", "--memory-limit", "400MB"};
  auto one = folder.Start("one", folder.SmallCommand("none", model));
  CHECK(one->Wait(120) == 1);
  CHECK_THAT(one->err(), Contains("rank 0 needs about"));
  for (const char* ranks : {"3", "4"}) {
    auto run = folder.Start(ranks, folder.SmallCommand(std::string("package") + ranks,
                                                       With(model, {"--processes", ranks, "--share-rows"})));
    const auto code = run->Wait(240);
    INFO(run->err());
    CHECK(code == 0);
  }
  const TensorMap three = *ReadWeights(*OpenModelPackage(folder / "package3")),
                  four = *ReadWeights(*OpenModelPackage(folder / "package4"));
  CHECK(three.at("items.id").shape == std::vector<int64_t>{kItems, 32});
  CHECK(LargestGap(three, four) < 5e-3);
}

}  // namespace
}  // namespace waymark
