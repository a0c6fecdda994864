// A ranker whose item, content and query tables lie over the ranks by rows.
#include "tests/waymark_train/launched_lists.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;
using Options = std::vector<std::string>;

Options And(Options options, const Options& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

TEST_CASE(
    "With spread tables 50 steps of a ranker are those of one process, bit for bit, on 1, 2, 3 and 4 ranks") {
  for (const Rule rule : {Rule::kCategoryOfLastItem, Rule::kCategoryOfQuery}) {
    const ListTrainFolder folder(rule);
    const auto run = [&](const std::string& name, const Options& options) {
      folder.Train(
          name, folder.ListCommand("none", And(options, {"--max-steps", "50", "--losses", folder / name})));
      return folder.Losses(name);
    };
    const std::vector<double> one = run("one", {});
    REQUIRE(one.size() == 50);
    for (const char* ranks : {"1", "2", "3", "4"}) {
      const auto several = run(std::string("spread") + ranks, {"--processes", ranks, "--share-rows"});
      REQUIRE(several.size() == 50);
      INFO(ranks << " ranks");
      CHECK(LargestDifference(one, several) < 1e-5);
      CHECK(one == several);
    }
  }
}

TEST_CASE("A ranker of spread tables is the package of whole ones; a rank holds its share, which is said") {
  const ListTrainFolder folder(Rule::kCategoryOfQuery);
  const auto train = [&](const std::string& name, const Options& options) {
    auto run = folder.Start(
        name,
        folder.ListCommand(name, And(options, {"--epochs", "3", "--report", folder / (name + ".json")})));
    const auto code = run->Wait(240);
    INFO(run->err());
    REQUIRE(code == 0);
    return run->err();
  };
  train("whole", {"--processes", "2"});
  const TensorMap weights = *ReadWeights(*OpenModelPackage(folder / "whole"));
  const auto rows = [&](const char* table) { return weights.at(table).shape[0]; };
  const int64_t items = rows("item_vectors"), content = rows("content_vectors"),
                words = rows("query_vectors");
  REQUIRE(items > 100);
  REQUIRE(content > 0);
  REQUIRE(words > 0);
  const auto whole = folder.Report("whole.json");
  CHECK(whole["item_table_bytes"] == items * 32 * 4 * 3);
  CHECK(whole["tables_bytes"] == (items + content + words) * 32 * 4 * 3);
  for (const int64_t ranks : {2, 4}) {
    const std::string name = "spread" + std::to_string(ranks);
    const std::string said = train(name, {"--processes", std::to_string(ranks), "--share-rows"});
    const auto report = folder.Report(name + ".json");
    const auto own = [&](int64_t of) { return (of + ranks - 1) / ranks; };
    CHECK(report["item_table_bytes"] == own(items) * 32 * 4 * 3);
    CHECK(report["tables_bytes"] == (own(items) + own(content) + own(words)) * 32 * 4 * 3);
    for (const char* table : {"item_vectors", "content_vectors", "query_vectors"}) {
      const size_t line = said.find(table);
      REQUIRE(line != std::string::npos);
      CHECK_THAT(said.substr(line, said.find('\n', line) - line),
                 Contains("rows, over the " + std::to_string(ranks) + " ranks"));
    }
    // Not only close: the sums are made in the same order.
    const TensorMap spread = *ReadWeights(*OpenModelPackage(folder / name));
    for (const auto& [tensor, data] : weights) {
      INFO(tensor);
      CHECK(spread.at(tensor).bytes == data.bytes);
    }
    CHECK(report["validation_ndcg10"].get<double>() ==
          Approx(whole["validation_ndcg10"].get<double>()).epsilon(1e-12));
  }
}

TEST_CASE("A checkpoint of spread tables goes on on other ranks, and without sharing, and back") {
  const ListTrainFolder folder;
  folder.Train("straight",
               folder.ListCommand("none", {"--max-steps", "40", "--losses", folder / "straight"}));
  const std::vector<double> straight = folder.Losses("straight");
  size_t before = 0;
  for (const auto& [options, end] :
       std::vector<std::pair<Options, size_t>>{{{"--processes", "4", "--share-rows"}, 7},
                                               {{"--processes", "2", "--share-rows"}, 13},
                                               {{"--processes", "2"}, 20},
                                               {{"--processes", "1"}, 26},
                                               {{"--processes", "4", "--share-rows"}, 33},
                                               {{"--processes", "3", "--share-rows"}, 40}}) {
    folder.Train("run", folder.ListCommand(
                            "none", And(options, {"--checkpoints", folder / "checkpoints", "--max-steps",
                                                  std::to_string(end), "--losses", folder / "losses"})));
    const std::vector<double> losses = folder.Losses("losses");
    INFO("from step " << before);
    REQUIRE(losses.size() == end - before);
    for (size_t i = 0; i < losses.size(); ++i) CHECK(losses[i] == straight[before + i]);
    before = end;
  }
}

TEST_CASE("Ranks of which one shares its rows are refused by name") {
  const ListTrainFolder folder;
  const std::string meeting = "127.0.0.1:" + std::to_string(FreePort());
  const auto start = [&](const char* rank, Options options) {
    return folder.Start(std::string("rank") + rank,
                        folder.ListCommand("package", And(options, {"--rank", rank, "--world-size", "2",
                                                                    "--rendezvous", meeting})));
  };
  auto first = start("0", {"--share-rows"}), second = start("1", {});
  for (Launched* rank : {first.get(), second.get()}) {
    CHECK(rank->Wait(120) == 1);
    CHECK_THAT(rank->err(), Contains("rank 0 has «share-rows yes», rank 1 «share-rows no»"));
  }
}

}  // namespace
}  // namespace waymark
