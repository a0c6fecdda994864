// Training on sealed shards: the same as on plain ones, without those who were erased since.
#include "tests/waymark_train/launched.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

constexpr int64_t kChainItems = 50;
constexpr int kShardFiles = 8;

// The same histories in the folders `shards` (plain) and `sealed`.
struct SealedTraining : TrainFolder {
  const std::vector<HistoryExample> histories = ChainHistories(200, 12, kChainItems);
  std::vector<uint64_t> users;
  storage::ExamplesIndex index;

  SealedTraining() {
    for (const HistoryExample& history : histories) users.push_back(history.user);
    WriteShards(*this / "shards", kShardFiles, kChainItems, histories, 1);
    std::filesystem::create_directories(*this / "sealed");
    const ShardKeys all(BundleOf(users));
    index = WriteShards(*this / "sealed", kShardFiles, kChainItems, histories, 1, {.keys = &all});
  }
  // A bundle for `sealed`, as `waymark export keys` would write it.
  std::string WriteKeys(const std::string& name, const std::set<uint64_t>& erased = {},
                        absl::Time expires = absl::Now() + absl::Hours(1)) const {
    storage::KeyBundle bundle = BundleOf(users, erased, expires);
    bundle.set_shards_sha256(ExamplesFingerprint(index));
    for (int f = 0; f < kShardFiles; ++f) {
      int64_t in_file = 0;
      for (size_t u = static_cast<size_t>(f); u < users.size(); u += kShardFiles) {
        in_file += erased.contains(users[u]) ? 1 : 0;
      }
      if (in_file == 0) continue;
      auto* told = bundle.add_files();
      told->set_name(index.files(f).name());
      told->set_erased(in_file);
    }
    REQUIRE(WriteKeyBundle(*this / name, bundle).ok());
    return *this / name;
  }
  std::vector<double> LossesOf(const std::string& name, std::vector<std::string> options) const {
    options.insert(options.end(), {"--epochs", "2", "--losses", *this / (name + ".loss"), "--report",
                                   *this / (name + ".json")});
    Train(name, SmallCommand(name + ".package", options));
    return Losses(name + ".loss");
  }
};

TEST_CASE("Sealed shards train to the losses of plain ones, bit for bit, on one rank and on two") {
  const SealedTraining folder;
  const std::string keys = folder.WriteKeys("keys");
  for (const char* ranks : {"1", "2"}) {
    const std::string suffix = ranks;
    const auto plain = folder.LossesOf("plain" + suffix, {"--processes", ranks});
    const auto sealed = folder.LossesOf(
        "sealed" + suffix, {"--processes", ranks, "--shards", folder / "sealed", "--keys", keys});
    REQUIRE(plain.size() == 16);  // 2 epochs of 2,000 targets, 256 a batch
    CHECK(plain == sealed);
    CHECK(folder.Report("sealed" + suffix + ".json")["erased_users"] == 0);
    CHECK_FALSE(folder.Report("plain" + suffix + ".json").contains("erased_users"));
  }
}

TEST_CASE("Who was erased since is skipped and counted, alike on every rank, as if never exported") {
  const SealedTraining folder;
  const std::set<uint64_t> erased = {100, 117, 118, 299};
  const std::string keys = folder.WriteKeys("keys", erased);
  std::filesystem::create_directories(folder / "without");
  WriteShards(folder / "without", kShardFiles, kChainItems, folder.histories, 1, {.left_out = erased});
  const auto without = folder.LossesOf("without", {"--shards", folder / "without"});
  for (const char* ranks : {"1", "2", "3"}) {
    const std::string name = std::string("sealed") + ranks;
    auto run = folder.Start(
        name, folder.SmallCommand(
                  name, {"--processes", ranks, "--shards", folder / "sealed", "--keys", keys, "--epochs", "2",
                         "--losses", folder / (name + ".loss"), "--report", folder / (name + ".json")}));
    REQUIRE(run->Wait(240) == 0);
    CHECK_THAT(run->err(), Contains("erased since: 4 users, whose records are skipped"));
    CHECK_THAT(run->out(), Contains("erased since: 4 users"));
    CHECK(folder.Report(name + ".json")["erased_users"] == 4);
    const auto losses = folder.Losses(name + ".loss");
    REQUIRE(losses.size() == without.size());
    CHECK(LargestDifference(without, losses) < 1e-5);
    if (std::string(ranks) == "1") CHECK(losses == without);
  }
  CHECK(folder.LossesOf("plain", {}) != without);
}

TEST_CASE("Shards without their keys, with expired ones or with those of other shards are refused") {
  const SealedTraining folder;
  const auto refused = [&](const std::vector<std::string>& options, int code, const std::string& what) {
    auto run = folder.Start("run", folder.SmallCommand("package", options));
    CHECK(run->Wait(60) == code);
    CHECK_THAT(run->err(), Contains(what));
    CHECK_FALSE(std::filesystem::exists(folder / "package"));
  };
  const std::string sealed = folder / "sealed", keys = folder.WriteKeys("keys");
  refused({"--shards", sealed}, 2, "say --keys FILE");
  refused({"--keys", keys}, 2, "is not sealed; leave it out");
  refused({"--shards", sealed, "--keys", folder / "none"}, 1, "there is no key bundle");
  refused({"--shards", sealed, "--keys", folder.WriteKeys("old", {}, absl::Now() - absl::Seconds(1))}, 1,
          "has expired at");
  std::ofstream(folder / "damaged") << "WAYMKEYS";
  refused({"--shards", sealed, "--keys", folder / "damaged"}, 1, "is no key bundle, or cut off");
  storage::KeyBundle other = BundleOf(folder.users);
  other.set_shards_sha256(std::string(64, 'a'));
  REQUIRE(WriteKeyBundle(folder / "other", other).ok());
  refused({"--shards", sealed, "--keys", folder / "other", "--processes", "2"}, 1, "belongs to other shards");
  const std::set<uint64_t> everybody(folder.users.begin(), folder.users.end());
  refused({"--shards", sealed, "--keys", folder.WriteKeys("nobody", everybody)}, 1, "were erased since");
}

TEST_CASE("Ranks with different key bundles are refused by name") {
  const SealedTraining folder;
  const std::vector<std::string> keys = {folder.WriteKeys("one"), folder.WriteKeys("other", {150})};
  const std::string meeting = "127.0.0.1:" + std::to_string(FreePort());
  std::vector<std::unique_ptr<Launched>> ranks;
  for (size_t r = 0; r < 2; ++r) {
    ranks.push_back(folder.Start(
        "rank" + std::to_string(r),
        folder.SmallCommand("package", {"--rank", std::to_string(r), "--world-size", "2", "--rendezvous",
                                        meeting, "--shards", folder / "sealed", "--keys", keys[r]})));
  }
  for (auto& rank : ranks) {
    CHECK(rank->Wait(60) == 1);
    CHECK_THAT(rank->err(), Contains("not set up alike") && Contains("rank 0 has «erased users none»") &&
                                Contains("rank 1 «erased users 1 sha256 "));
  }
}

TEST_CASE("A checkpoint goes on with a new bundle, but not when users were erased since") {
  const SealedTraining folder;
  const auto run = [&](const std::string& keys, std::vector<std::string> more) {
    std::vector<std::string> options = {"--shards",      folder / "sealed",      "--keys",   keys,
                                        "--checkpoints", folder / "checkpoints", "--epochs", "2"};
    options.insert(options.end(), more.begin(), more.end());
    return folder.Start("run", folder.SmallCommand("package", options));
  };
  REQUIRE(run(folder.WriteKeys("first"), {"--max-steps", "10"})->Wait(120) == 0);
  auto erased = run(folder.WriteKeys("later", {105}), {});
  CHECK(erased->Wait(120) == 1);
  CHECK_THAT(erased->err(), Contains("before users of these shards were erased"));
  auto on =
      run(folder.WriteKeys("second", {}, absl::Now() + absl::Hours(2)), {"--report", folder / "report.json"});
  REQUIRE(on->Wait(120) == 0);
  CHECK(folder.Report("report.json")["resumed"] == true);
  CHECK(folder.Report("report.json")["steps"] == 6);
}

}  // namespace
}  // namespace waymark
