// What ends a ranker's training: on every rank, with one reason.
#include <fstream>

#include "tests/waymark_train/launched_lists.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

// Runs two ranks and expects both to end with `what`.
void ExpectBothEnd(const ListTrainFolder& folder, const std::string& what,
                   const std::vector<std::vector<std::string>>& own = {{}, {}}) {
  const std::string meeting = "127.0.0.1:" + std::to_string(FreePort());
  std::vector<std::unique_ptr<Launched>> ranks;
  for (size_t r = 0; r < 2; ++r) {
    std::vector<std::string> options = {"--rank", std::to_string(r), "--world-size",
                                        "2",      "--rendezvous",    meeting};
    options.insert(options.end(), own[r].begin(), own[r].end());
    ranks.push_back(folder.Start("rank" + std::to_string(r), folder.ListCommand("package", options)));
  }
  for (auto& rank : ranks) {
    const auto code = rank->Wait(180);
    INFO(rank->err());
    CHECK(code.value_or(0) != 0);
    CHECK_THAT(rank->err(), Contains(what));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "package"));
}

TEST_CASE("Shards of lists that are missing, cut off or changed by a bit end every rank with their name") {
  const ListTrainFolder folder;
  // One that rank 1 reads in the first epoch: of part 1 or 3.
  const std::string name = folder.index.files(3).name();
  const std::filesystem::path file = folder / "shards" / name;
  SECTION("missing") {
    std::filesystem::remove(file);
    ExpectBothEnd(folder, name + " is missing");
  }
  SECTION("cut off") {
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    ExpectBothEnd(folder, name + " has ");
  }
  SECTION("a bit") {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(60);
    const char byte = static_cast<char>(stream.get() ^ 4);
    stream.seekp(60);
    stream.put(byte);
    stream.close();
    ExpectBothEnd(folder, name + " does not have the SHA-256");
  }
  SECTION("of those that validate") {
    const std::string validation = folder.index.validation(1).name();
    std::filesystem::remove(folder / "shards" / validation);
    ExpectBothEnd(folder, validation + " is missing");
  }
  SECTION("the items") {
    std::filesystem::remove(folder / "shards" / folder.index.items().name());
    ExpectBothEnd(folder, "items.tfrecord.zst is missing");
  }
}

TEST_CASE("Lists of other features, or of another retriever, end every rank with what differs") {
  const ListTrainFolder folder;
  SECTION("features") {
    storage::ListsIndex other = folder.index;
    other.set_features(0, "moon_phase");
    REQUIRE(WriteListsIndex(folder / "shards", other).ok());
    ExpectBothEnd(folder, "column 0 is 'moon_phase' there and 'keyword_score' here");
  }
  SECTION("a retriever that was asked for") {
    storage::ModelManifest manifest;
    manifest.set_kind("retriever");
    manifest.set_version("r9");
    REQUIRE(WriteModelPackage(folder / "retriever", manifest, {}, {}).ok());
    ExpectBothEnd(folder, "is r9 (", {{"--retriever", folder / "retriever"}, {}});
    ExpectBothEnd(folder, "the lists belong to the retriever r1",
                  {{}, {"--retriever", folder / "retriever"}});
  }
  SECTION("ranks with lists of different retrievers") {
    std::filesystem::copy(folder / "shards", folder / "others");
    storage::ListsIndex other = folder.index;
    other.set_retriever_sha256(std::string(64, 'e'));
    REQUIRE(WriteListsIndex(folder / "others", other).ok());
    ExpectBothEnd(folder, "the ranks are not set up alike", {{}, {"--shards", folder / "others"}});
  }
  SECTION("ranks with a ranker's and a retriever's shards") {
    std::filesystem::create_directories(folder / "histories");
    WriteShards(folder / "histories", 8, 50, ChainHistories(100, 12, 50), 1);
    ExpectBothEnd(folder, "--batch-lists is for shards of ranking lists",
                  {{}, {"--shards", folder / "histories"}});
  }
}

TEST_CASE("Options of a retriever's training are refused by name, and so are others that do not fit") {
  const ListTrainFolder folder(Rule::kLargestFeature, 60, 2);
  const auto refused = [&](const std::vector<std::string>& options, const std::string& what) {
    auto run = folder.Start("run", folder.ListCommand("package", options));
    CHECK(run->Wait(180) == 2);
    CHECK_THAT(run->err(), Contains(what));
  };
  for (const std::string option : {"--batch-tokens", "--negatives", "--warmup-steps", "--clip", "--blocks",
                                   "--history", "--validation-users", "--admit-after", "--max-rows"}) {
    refused({"--parts", "2", option, "3"}, option + " is for the training of a retriever");
  }
  refused({"--shard-optimizer", "--share-rows"}, "--shard-optimizer is for the training of a retriever");
  refused({"--parts", "2", "--evict", "recent"}, "--evict is for the training of a retriever");
  refused({"--parts", "2", "--width", "33"}, "attention_heads is 2, which does not divide width 33");
  refused({"--parts", "2", "--dropout", "0.95"}, "dropout is 0.95; it takes 0 to 0.9");
  auto run = folder.Start("run", folder.ListCommand("package", {"--processes", "3"}));
  CHECK(run->Wait(180).value_or(0) != 0);
  CHECK_THAT(run->err(), Contains("2 files for the 4 parts"));
}

TEST_CASE("A ranker's loss that is not finite names the step, the batch and its users on every rank") {
  const ListTrainFolder folder;
  // A column of one value alone, divided by nothing: 0 / 0.
  storage::ListsIndex damaged = folder.index;
  for (int c = 0; c < damaged.features_size(); ++c) {
    if (damaged.features(c) == "request.has_query") damaged.set_feature_scale(c, 0);
  }
  REQUIRE(WriteListsIndex(folder / "shards", damaged).ok());
  ExpectBothEnd(folder, "in step 1 (epoch 1, batch 1 of 12); on rank 0 part 0 with");
  for (const char* rank : {"rank0.err", "rank1.err"}) {
    // Users are 1000 to 1299; both ranks had parts of the batch.
    CHECK_THAT(TextOf(folder / rank), Contains("the loss is") && Contains("on rank 1 part 1 with") &&
                                          Contains("lists, of the users 1"));
  }
}

TEST_CASE(
    "A rank of a ranker's training that is killed, or stands still, ends the other within the timeout") {
  const ListTrainFolder folder;
  for (const int signal : {SIGKILL, SIGSTOP}) {
    std::filesystem::remove(folder / "losses");
    const std::string meeting = "127.0.0.1:" + std::to_string(FreePort());
    std::vector<std::unique_ptr<Launched>> ranks;
    for (const char* r : {"0", "1"}) {
      ranks.push_back(folder.Start(
          std::string("rank") + r,
          folder.ListCommand(
              "package", {"--epochs", "900", "--patience", "900", "--timeout", "3", "--losses",
                          folder / "losses", "--rank", r, "--world-size", "2", "--rendezvous", meeting})));
    }
    for (int i = 0; i < 3600 && folder.Losses("losses").size() < 10; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    REQUIRE(folder.Losses("losses").size() >= 10);
    ranks[1]->Signal(signal);
    CHECK(ranks[0]->Wait(180) == 1);
    CHECK_THAT(ranks[0]->err(), Contains("rank 1 (host ") && Contains("has ended or stands still"));
  }
}

}  // namespace
}  // namespace waymark
