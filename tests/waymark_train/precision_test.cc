// bf16 with fp32 master weights against fp32, under waymark-train.
#include "tests/waymark_train/launched.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures

// bf16 keeps 8 significant bits: a rounded factor is off by at most 2^-9 of itself, a product of two by 2^-8.
constexpr double kRoundingOfBf16 = 1.0 / 256;

TEST_CASE("In bf16 the losses of 50 steps are those of fp32 within rounding, in every mode") {
  const TrainFolder folder(ChainHistories(400, 12, 60), 60);
  const auto run = [&](const std::string& name, std::vector<std::string> options) {
    options.insert(options.end(), {"--max-steps", "50", "--losses", folder / name, "--timeout", "60"});
    folder.Train(name, folder.SmallCommand("none", options));
    return folder.Losses(name);
  };
  const std::vector<double> fp32 = run("fp32", {});
  REQUIRE(fp32.size() == 50);
  const std::vector<std::vector<std::string>> modes = {{},
                                                       {"--processes", "2"},
                                                       {"--processes", "2", "--share-rows"},
                                                       {"--processes", "2", "--shard-optimizer"},
                                                       {"--processes", "2", "--mesh", "tensor=2"},
                                                       {"--processes", "2", "--mesh", "pipeline=2"},
                                                       {"--checkpoint-activations"},
                                                       {"--accumulate", "2"}};
  for (std::vector<std::string> mode : modes) {
    std::string said = "bf16";
    for (const std::string& word : mode) said += " " + word;
    INFO(said);
    mode.insert(mode.end(), {"--precision", "bf16"});
    const std::vector<double> bf16 = run("bf16", mode);
    REQUIRE(bf16.size() == 50);
    CHECK(LargestDifference(fp32, bf16) < kRoundingOfBf16);
    CHECK(bf16 != fp32);
  }
}

TEST_CASE("Training in bf16 goes on from a checkpoint as if it had not stopped, and in fp32 when asked") {
  const TrainFolder folder(ChainHistories(400, 12, 60), 60);
  const auto run = [&](const std::string& name, const std::string& end, const std::string& precision,
                       bool keep) {
    std::vector<std::string> options = {"--max-steps", end,           "--losses",
                                        folder / name, "--precision", precision};
    if (keep) options.insert(options.end(), {"--checkpoints", folder / "checkpoints"});
    folder.Train(name, folder.SmallCommand("none", options));
    return folder.Losses(name);
  };
  const std::vector<double> straight = run("straight", "30", "bf16", false);
  REQUIRE(straight.size() == 30);
  REQUIRE(run("begun", "10", "bf16", true).size() == 10);
  const std::vector<double> resumed = run("resumed", "20", "bf16", true);
  REQUIRE(resumed.size() == 10);
  CHECK(std::equal(resumed.begin(), resumed.end(), straight.begin() + 10));
  const std::vector<double> wider = run("wider", "30", "fp32", true);
  REQUIRE(wider.size() == 10);
  CHECK(LargestDifference({straight.begin() + 20, straight.end()}, wider) < kRoundingOfBf16);
}

TEST_CASE("A package that was trained in bf16 holds fp32 and knows the chain") {
  const TrainFolder folder(ChainHistories(400, 12, 60), 60);
  folder.Train("bf16", folder.SmallCommand("bf16", {"--processes", "2", "--epochs", "12", "--precision",
                                                    "bf16", "--report", folder / "bf16.json"}));
  const auto report = folder.Report("bf16.json");
  // At best .815, as retriever_trainer_test works out.
  CHECK(report["validation_ndcg10"] > 0.7);
  CHECK(report["validation_ndcg10"] < 0.9);
  const auto weights = ReadWeights(*OpenModelPackage(folder / "bf16"));
  REQUIRE(weights.ok());
  CHECK(weights->at("items.id").floats().size() == 60 * 32);
}

}  // namespace
}  // namespace waymark
