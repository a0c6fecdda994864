#include "tests/waymark_train/launched.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

// Ranks that were started by hand, two of them where nothing else is said.
struct TwoRanks {
  std::vector<std::unique_ptr<Launched>> ranks;
  std::string meeting = "127.0.0.1:" + std::to_string(FreePort());

  // own: of each rank.
  TwoRanks(const TrainFolder& folder, const std::vector<std::string>& options,
           const std::vector<std::vector<std::string>>& own = {{}, {}}) {
    std::filesystem::remove(folder / "losses");
    for (size_t r = 0; r < own.size(); ++r) {
      std::vector<std::string> of_rank = options;
      of_rank.insert(of_rank.end(), {"--rank", std::to_string(r), "--world-size", std::to_string(own.size()),
                                     "--rendezvous", meeting});
      of_rank.insert(of_rank.end(), own[r].begin(), own[r].end());
      ranks.push_back(folder.Start("rank" + std::to_string(r), folder.SmallCommand("package", of_rank)));
    }
  }
  void WaitForSteps(const TrainFolder& folder, size_t steps) {
    for (int i = 0; i < 3600 && folder.Losses("losses").size() < steps; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    REQUIRE(folder.Losses("losses").size() >= steps);
  }
};

TEST_CASE("A rank that is killed ends the others with an error, soon") {
  const TrainFolder folder(ChainHistories(400, 12, 60), 60);
  for (const size_t killed : {0, 1}) {
    TwoRanks two(folder, {"--epochs", "500", "--patience", "500", "--losses", folder / "losses"});
    two.WaitForSteps(folder, 10);
    const std::string process = std::to_string(two.ranks[killed]->pid());
    two.ranks[killed]->Signal(SIGKILL);
    CHECK(two.ranks[1 - killed]->Wait(180) == 1);
    if (killed == 1) {
      CHECK_THAT(two.ranks[0]->err(), Contains("failed on rank 0: rank 1 (host ") &&
                                          Contains(", process " + process + ") has ended or stands still"));
    } else {
      CHECK_THAT(two.ranks[1]->err(),
                 Contains("rank 0, which holds the ranks' meeting at " + two.meeting + ", has ended"));
    }
  }
}

TEST_CASE("A rank that stands still is named by each of the others, within the timeout and 10 s") {
  const TrainFolder folder(ChainHistories(400, 12, 60), 60);
  for (const auto& [ranks, stopped] : {std::pair{2, 1}, {4, 2}, {2, 0}, {4, 0}}) {
    INFO("rank " << stopped << " of " << ranks);
    TwoRanks all(folder, {"--epochs", "500", "--patience", "500", "--losses", folder / "losses"},
                 std::vector<std::vector<std::string>>(ranks, {"--timeout", "3"}));
    all.WaitForSteps(folder, 10);
    const std::string process = std::to_string(all.ranks[stopped]->pid());
    all.ranks[stopped]->Signal(SIGSTOP);
    const auto before = std::chrono::steady_clock::now();
    for (int r = 0; r < ranks; ++r) {
      if (r == stopped) continue;
      CHECK(all.ranks[r]->Wait(180) == 1);
      if (stopped == 0) {
        CHECK_THAT(all.ranks[r]->err(), Contains("rank 0, which holds the ranks' meeting at " + all.meeting +
                                                 ", does not answer"));
      } else {
        CHECK_THAT(all.ranks[r]->err(), Contains("rank " + std::to_string(stopped) + " (host ") &&
                                            Contains("process " + process + ") has ended or stands still"));
      }
      // It is the only one that is named.
      CHECK_THAT(all.ranks[r]->err(), !Contains("have ended or stand still"));
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    CHECK(seconds < 40);  // 3 and 10, or 1.5 * 3 + 10 + 10 for the watchdog, and what a busy machine adds
    all.ranks[stopped]->Signal(SIGCONT);
    const auto ended = all.ranks[stopped]->Wait(180);
    INFO(all.ranks[stopped]->err());
    CHECK(ended == 1);
  }
}

TEST_CASE("A rank that holds a part or a stage of a model ends the others as soon") {
  const TrainFolder folder(ChainHistories(400, 12, 60), 60);
  for (const char* mesh : {"tensor=2", "pipeline=2"}) {
    INFO(mesh);
    const std::vector<std::string> options = {
        "--epochs",        "500",    "--patience", "500",       "--losses",
        folder / "losses", "--mesh", mesh,         "--timeout", "3"};
    for (const int signal : {SIGKILL, SIGSTOP}) {
      TwoRanks two(folder, options);
      two.WaitForSteps(folder, 10);
      two.ranks[1]->Signal(signal);
      CHECK(two.ranks[0]->Wait(180) == 1);
      CHECK_THAT(two.ranks[0]->err(), Contains("rank 1 (host ") && Contains("has ended or stands still"));
      if (signal == SIGSTOP) two.ranks[1]->Signal(SIGKILL);
    }
  }
}

TEST_CASE("Ranks that are set up otherwise all end with what differs") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  TwoRanks two(folder, {}, {{"--seed", "1"}, {"--seed", "2"}});
  for (auto& rank : two.ranks) {
    CHECK(rank->Wait(180) == 1);
    CHECK_THAT(rank->err(), Contains("rank 0 has «seed 1», rank 1 «seed 2»"));
  }
}

TEST_CASE("What one rank knows ends all of them: shards that are not there, or damaged") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  SECTION("no shards on one of them") {
    TwoRanks two(folder, {}, {{}, {"--shards", folder / "elsewhere"}});
    for (auto& rank : two.ranks) {
      CHECK(rank->Wait(180) == 1);
      CHECK_THAT(rank->err(), Contains("elsewhere holds no training shards"));
    }
  }
  SECTION("a byte of a shard") {
    const std::filesystem::path file = folder / "shards/examples-3.tfrecord.zst";
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(50);
    stream.put('\x55');
    stream.close();
    TwoRanks two(folder, {});
    for (auto& rank : two.ranks) {
      CHECK(rank->Wait(180) == 1);
      CHECK_THAT(rank->err(), Contains("examples-3.tfrecord.zst does not have the SHA-256"));
    }
  }
}

TEST_CASE("A coordinator that cannot be reached is one clear message") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  auto alone = folder.Start(
      "alone", folder.SmallCommand("package", {"--rank", "1", "--world-size", "2", "--rendezvous",
                                               "127.0.0.1:" + std::to_string(FreePort()), "--timeout", "2"}));
  CHECK(alone->Wait(180) == 1);
  CHECK_THAT(alone->err(), Contains("rank 1 cannot reach the others at 127.0.0.1:"));
  CHECK_THAT(alone->err(), !Contains("frame #") && !Contains("[c10d]"));
  auto nowhere = folder.Start(
      "nowhere", folder.SmallCommand("package", {"--rank", "1", "--world-size", "2", "--rendezvous",
                                                 "nowhere.invalid:2900", "--timeout", "2"}));
  CHECK(nowhere->Wait(180) == 1);
  CHECK_THAT(nowhere->err(), Contains("no address of nowhere.invalid is known"));
}

TEST_CASE("A rank that waits for others in vain names them") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  auto first = folder.Start(
      "first", folder.SmallCommand("package", {"--rank", "0", "--world-size", "3", "--rendezvous",
                                               "127.0.0.1:" + std::to_string(FreePort()), "--timeout", "3"}));
  CHECK(first->Wait(180) == 1);
  CHECK_THAT(first->err(), Contains("the 3 ranks do not come together") &&
                               Contains("ranks 1, 2 have not come") && !Contains("[c10d]"));
}

TEST_CASE("A rank that waits for the others to come ends at once when it is stopped") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  for (const std::string rank : {"0", "1"}) {
    const std::string meeting = "127.0.0.1:" + std::to_string(FreePort());
    auto alone = folder.Start(
        "alone" + rank, folder.SmallCommand("package", {"--rank", rank, "--world-size", "2", "--rendezvous",
                                                        meeting, "--timeout", "600"}));
    for (int i = 0; i < 1200 && alone->err().find("meets at") == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    alone->Signal(SIGTERM);
    const auto code = alone->Wait(120);
    INFO(alone->err());
    CHECK(code == 1);
    CHECK_THAT(alone->err(), Contains("stopped before the ranks had met"));
  }
}

TEST_CASE("A loss that is not finite names the step, the batch and its users on every rank") {
  const TrainFolder folder(ChainHistories(100, 12, 50), 50);
  folder.Train("start", folder.SmallCommand("start", {"--epochs", "1"}));
  // Weights that are finite and so large that their products are not.
  const auto start = OpenModelPackage(folder / "start");
  REQUIRE(start.ok());
  auto weights = ReadWeights(*start);
  REQUIRE(weights.ok());
  for (auto& [name, tensor] : *weights) {
    const std::vector<float> large(tensor.elements(), 1e30f);
    tensor = TensorData::F32(tensor.shape, large);
  }
  const auto items = ReadVocabulary(*start, "items");
  REQUIRE(items.ok());
  REQUIRE(WriteModelPackage(folder / "large", start->manifest, *weights, {{"items", *items}}).ok());
  TwoRanks two(folder, {"--init-from", folder / "large"});
  for (auto& rank : two.ranks) {
    CHECK(rank->Wait(180) == 1);
    CHECK_THAT(rank->err(), Contains("the loss is") && Contains("in step 1 (epoch 1, batch 1 of 4)"));
    // Users are 100 to 199; both ranks had parts of the batch.
    CHECK_THAT(rank->err(), Contains("on rank 0 part 0 with") && Contains("on rank 1 part 1 with") &&
                                Contains("of the users 1"));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "package"));
}

}  // namespace
}  // namespace waymark
