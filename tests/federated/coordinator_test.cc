#include "training/federated/rounds/coordinator.h"

#include <google/protobuf/util/json_util.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "tests/federated/federation_fixture.h"
#include "tests/support/catch.h"
#include "training/federated/privacy/fixed_point.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

struct Federation {
  explicit Federation(size_t sites, federated::Plan plan = SmallPlan(), size_t quorum = 3)
      : clock(absl::Now()) {
    options.plan = std::move(plan);
    options.state_folder = folder / "state";
    options.quorum = quorum;
    options.expected_sites = sites;
    options.clock = &clock;
    Start();
    // Sites of different size: their weights differ.
    for (size_t s = 0; s < sites; ++s) members.emplace_back("site" + std::to_string(s), 100 * (s + 1));
    for (DirectSite& site : members) site.Join(coordinator.get());
  }
  void Start() {
    coordinator.reset();
    auto opened = Coordinator::Open(options);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    coordinator = *std::move(opened);
  }
  // Every site but those in `without` acts once, then the coordinator.
  std::vector<std::string> Step(std::vector<size_t> without = {}) {
    std::vector<std::string> did;
    for (size_t s = 0; s < members.size(); ++s) {
      const bool out = std::find(without.begin(), without.end(), s) != without.end();
      did.push_back(out ? "" : members[s].Act(coordinator.get()));
    }
    REQUIRE(coordinator->Tick().ok());
    return did;
  }
  void Pass(absl::Duration time) { clock.Set(clock.Now() + time); }
  std::vector<float> ModelNow() {
    federated::GetModelRequest get;
    get.set_session(coordinator->plan().session());
    get.set_round(coordinator->finished_rounds() + 1);
    auto model = coordinator->Model(members[0].name(), get);
    REQUIRE(model.ok());
    return **model;
  }
  std::string LastReport() const {
    std::ifstream in(folder / "state" / "rounds.jsonl");
    std::string line, last;
    while (std::getline(in, line)) last = line;
    return last;
  }

  FederationFolder folder;
  FixedClock clock;
  CoordinatorOptions options;
  std::unique_ptr<Coordinator> coordinator;
  std::vector<DirectSite> members;
};

// The weighted mean of the survivors' moves, in double precision.
void CheckMean(const std::vector<float>& before, const std::vector<float>& after, int round,
               const std::vector<size_t>& survivors) {
  REQUIRE(before.size() == after.size());
  double weight = 0, worst = 0;
  std::vector<double> sum(before.size(), 0);
  for (size_t s : survivors) {
    const double own = 100 * (static_cast<double>(s) + 1);
    const auto moved = KnownMove("site" + std::to_string(s), round, before.size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += own * moved[i];
    weight += own;
  }
  for (size_t i = 0; i < sum.size(); ++i) {
    worst = std::max(worst, std::abs(after[i] - before[i] - sum[i] / weight));
  }
  CHECK(worst < 2e-7);  // rounding of floats of size 1 and below
}

TEST_CASE("A round moves the model by the weighted mean of the sites' updates") {
  Federation f(4);
  CHECK(f.Step() == std::vector<std::string>(4, "wait"));
  const std::vector<float> before = f.ModelNow();
  CHECK(f.Step() == std::vector<std::string>(4, "advertise"));
  CHECK(f.Step() == std::vector<std::string>(4, "share"));
  CHECK(f.Step() == std::vector<std::string>(4, "update"));
  CHECK(f.Step() == std::vector<std::string>(4, "reveal"));
  CHECK(f.coordinator->finished_rounds() == 1);
  CheckMean(before, f.ModelNow(), 1, {0, 1, 2, 3});
  CHECK(f.members[0].model() == before);
  federated::RoundReport report;
  REQUIRE(google::protobuf::util::JsonStringToMessage(f.LastReport(), &report).ok());
  CHECK(report.survivors() == 4);
  CHECK(report.events() == 1000);
  CHECK(report.loss() == Approx(2).epsilon(1e-4));
  CHECK(report.ndcg10() == Approx(.25).epsilon(1e-4));
}

TEST_CASE("What the coordinator receives is not the update, and its sum is exactly the updates' sum") {
  Federation f(4);
  for (int step = 0; step < 4; ++step) f.Step();  // up to the updates
  for (const DirectSite& site : f.members) {
    REQUIRE(site.sent().size() == site.plain().size());
    size_t same = 0;
    for (size_t i = 0; i < site.sent().size(); ++i) same += site.sent()[i] == site.plain()[i];
    CHECK(same == 0);
    // Nor near it: decoded, its numbers are as large as the grid reaches (8 * 64 / sqrt 3 = 296), not .01.
    const auto decoded = FixedPoint(8, 64).Decode(site.sent());
    double square = 0;
    for (float v : decoded) square += v * v / static_cast<double>(decoded.size());
    CHECK(std::sqrt(square) == Approx(296).epsilon(.2));
  }
  // Two of the four together are still masked.
  size_t same = 0;
  for (size_t i = 0; i < f.members[0].sent().size(); ++i) {
    same +=
        f.members[0].sent()[i] + f.members[1].sent()[i] == f.members[0].plain()[i] + f.members[1].plain()[i];
  }
  CHECK(same == 0);
}

TEST_CASE("A site that drops out after its shares leaves the sum of the others exact") {
  Federation f(4);
  for (int step = 0; step < 3; ++step) f.Step();
  const std::vector<float> before = f.ModelNow();
  f.Step({2});  // sends no update
  CHECK(f.coordinator->finished_rounds() == 0);
  f.Pass(absl::Minutes(11));
  f.Step({2});  // the deadline ends the stage
  CHECK(f.Step({2}) == std::vector<std::string>{"reveal", "reveal", "", "reveal"});
  REQUIRE(f.coordinator->finished_rounds() == 1);
  CheckMean(before, f.ModelNow(), 1, {0, 1, 3});
  CHECK_THAT(f.LastReport(), Contains("\"dropped\":[\"site2\"]") && Contains("\"survivors\":3"));

  // It is back in the next round.
  f.Step();
  f.Pass(absl::Seconds(6));
  for (int step = 0; step < 6; ++step) f.Step();
  CHECK(f.coordinator->Finished());
  CHECK_THAT(f.LastReport(), Contains("\"survivors\":4"));
}

TEST_CASE("A site that drops out between its keys and its shares leaves the sum of the others exact") {
  Federation f(4);
  f.Step();
  f.Step();
  const std::vector<float> before = f.ModelNow();
  f.Step({1});
  f.Pass(absl::Seconds(31));
  for (int step = 0; step < 3; ++step) f.Step({1});
  REQUIRE(f.coordinator->finished_rounds() == 1);
  CheckMean(before, f.ModelNow(), 1, {0, 2, 3});
}

TEST_CASE("A round that loses too many sites is tried again with the same model") {
  Federation f(4);
  for (int step = 0; step < 3; ++step) f.Step();
  const std::vector<float> before = f.ModelNow();
  f.Step({1, 2});
  f.Pass(absl::Minutes(11));
  f.Step({1, 2});
  CHECK(f.coordinator->finished_rounds() == 0);
  CHECK(f.ModelNow() == before);
  for (int step = 0; step < 6; ++step) f.Step();
  CHECK(f.coordinator->finished_rounds() == 1);
  CHECK_THAT(f.LastReport(), Contains("\"attempt\":2"));
  CheckMean(before, f.ModelNow(), 1, {0, 1, 2, 3});
}

TEST_CASE("No round begins below the quorum; a site that comes late is in the next round") {
  Federation f(3, SmallPlan(), 3);
  f.options.expected_sites = 0;
  f.Start();
  f.members[0].Join(f.coordinator.get());
  f.members[1].Join(f.coordinator.get());
  for (int step = 0; step < 5; ++step) {
    f.Pass(absl::Seconds(5));
    CHECK(f.Step({2}) == std::vector<std::string>{"wait", "wait", ""});
  }
  f.members[2].Join(f.coordinator.get());
  f.Step();
  f.Pass(absl::Seconds(6));
  f.Step();
  CHECK(f.Step() == std::vector<std::string>(3, "advertise"));
  DirectSite late("late", 50);
  late.Join(f.coordinator.get());
  CHECK(late.Act(f.coordinator.get()) == "wait");
  for (int step = 0; step < 3; ++step) f.Step();
  REQUIRE(f.coordinator->finished_rounds() == 1);
  f.Step();
  CHECK(late.Act(f.coordinator.get()) == "wait");
  f.Pass(absl::Seconds(6));
  f.Step();
  CHECK(late.Act(f.coordinator.get()) == "advertise");
}

TEST_CASE("A coordinator that was restarted goes on with the round's model and the same session") {
  Federation f(4);
  for (int step = 0; step < 5; ++step) f.Step();
  REQUIRE(f.coordinator->finished_rounds() == 1);
  f.Step();
  f.Step();  // in the middle of round 2
  const std::vector<float> model = f.ModelNow();
  const std::string session = f.coordinator->plan().session();
  f.Start();
  CHECK(f.coordinator->plan().session() == session);
  CHECK(f.coordinator->finished_rounds() == 1);
  for (DirectSite& site : f.members) site.Join(f.coordinator.get());
  CHECK(f.ModelNow() == model);
  for (int step = 0; step < 5; ++step) f.Step();
  REQUIRE(f.coordinator->Finished());
  CheckMean(model, f.ModelNow(), 2, {0, 1, 2, 3});
  CHECK(f.Step() == std::vector<std::string>(4, "finished"));
}

TEST_CASE("FedAdam's moments are part of what a restart goes on with") {
  federated::Plan plan = SmallPlan();
  plan.set_rule(federated::Plan::FEDADAM);
  plan.set_server_rate(.01);
  Federation straight(4, plan), stopped(4, plan);
  for (int step = 0; step < 10; ++step) straight.Step();
  for (int step = 0; step < 5; ++step) stopped.Step();
  stopped.Start();
  for (DirectSite& site : stopped.members) site.Join(stopped.coordinator.get());
  for (int step = 0; step < 5; ++step) stopped.Step();
  REQUIRE(straight.coordinator->Finished());
  REQUIRE(stopped.coordinator->Finished());
  CHECK(straight.ModelNow() == stopped.ModelNow());
}

TEST_CASE("Another plan on the same state, and damaged state, are refused with the reason") {
  Federation f(4);
  for (int step = 0; step < 5; ++step) f.Step();
  const auto second = Coordinator::Open(f.options);
  CHECK(absl::IsFailedPrecondition(second.status()));
  CHECK_THAT(std::string(second.status().message()), Contains("another coordinator runs on"));
  f.coordinator.reset();
  CoordinatorOptions other = f.options;
  other.plan.set_learning_rate(.5);
  const auto different = Coordinator::Open(other);
  CHECK(absl::IsFailedPrecondition(different.status()));
  CHECK_THAT(std::string(different.status().message()),
             Contains("learning_rate") && Contains("another --state"));

  const auto model = f.folder / "state" / "model-1.safetensors";
  std::fstream stream(model, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(-8, std::ios::end);
  stream.put('\x7f');
  stream.close();
  const auto damaged = Coordinator::Open(f.options);
  CHECK(absl::IsDataLoss(damaged.status()));
  CHECK_THAT(std::string(damaged.status().message()), Contains("model-1.safetensors"));
}

TEST_CASE("Updates of another size, of another round, twice, or of a stranger are refused by name") {
  Federation f(4);
  for (int step = 0; step < 3; ++step) f.Step();
  const federated::RoundKey key = f.members[0].Poll(f.coordinator.get()).key();
  const size_t words = f.coordinator->update_words();
  const std::vector<uint64_t> right(words, 1);
  const auto message = [&](const std::string& site, const federated::RoundKey& of, size_t size) {
    return std::string(f.coordinator->Submit(site, of, std::vector<uint64_t>(size, 1)).message());
  };
  CHECK_THAT(message("site0", key, words + 1),
             Contains("site0") && Contains(std::to_string(words + 1)) && Contains(std::to_string(words)));
  CHECK_THAT(message("site0", key, 0), Contains("has 0 numbers"));
  CHECK_THAT(message("stranger", key, words), Contains("stranger") && Contains("takes no part"));
  federated::RoundKey other = key;
  other.set_attempt(7);
  CHECK_THAT(message("site0", other, words), Contains("attempt 7 is over"));
  other = key;
  other.set_session("x");
  CHECK_THAT(message("site0", other, words), Contains("another one"));
  CHECK(message("site0", key, words).empty());
  CHECK(absl::IsAlreadyExists(f.coordinator->Submit("site0", key, right)));
}

TEST_CASE("A sum that no clipped updates can have is not used") {
  Federation f(4);
  for (int step = 0; step < 3; ++step) f.Step();
  const std::vector<float> before = f.ModelNow();
  for (size_t s = 1; s < 4; ++s) CHECK(f.members[s].Act(f.coordinator.get()) == "update");
  // The masks of site 0 are missing, so the sum is noise: as if it had sent anything.
  const federated::RoundKey key = f.members[0].Poll(f.coordinator.get()).key();
  federated::PollResponse todo = f.members[0].Poll(f.coordinator.get());
  CHECK(f.members[0].Act(f.coordinator.get()) == "update");
  REQUIRE(f.coordinator->Tick().ok());
  // Nobody's shares but wrong ones of site 0: the reveal of b_0 is spoiled.
  for (DirectSite& site : f.members) {
    federated::PollResponse reveal = site.Poll(f.coordinator.get());
    REQUIRE(reveal.has_reveal());
    federated::RevealSharesRequest request;
    *request.mutable_key() = key;
    for (int owner = 1; owner <= 4; ++owner) {
      auto* share = request.add_shares();
      share->set_owner(owner);
      share->set_survived(true);
      share->set_share(std::string(32, 'x'));
    }
    CHECK(f.coordinator->Reveal(site.name(), request).ok());
  }
  REQUIRE(f.coordinator->Tick().ok());
  CHECK(f.coordinator->finished_rounds() == 0);
  CHECK(f.ModelNow() == before);
  // The next attempt is a good one.
  for (int step = 0; step < 5; ++step) f.Step();
  CHECK(f.coordinator->finished_rounds() == 1);
}

TEST_CASE("With noise the statistics are not sent, the noise is that of the plan, and epsilon is told") {
  federated::Plan plan = SmallPlan();
  plan.set_noise(.5);
  plan.set_equal_weights(true);
  Federation f(4, plan);
  const std::vector<float> before = [&] {
    f.Step();
    return f.ModelNow();
  }();
  for (int step = 0; step < 4; ++step) f.Step();
  REQUIRE(f.coordinator->finished_rounds() == 1);
  const std::vector<float> after = f.ModelNow();
  double square = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    double mean = 0;
    for (int s = 0; s < 4; ++s) mean += KnownMove("site" + std::to_string(s), 1, after.size())[i] / 4;
    const double noise = after[i] - before[i] - mean;
    square += noise * noise / static_cast<double>(after.size());
  }
  // .5 * 8 on the sum, a fourth of that on the mean; 9 deviations of the deviation of 1,200 numbers.
  CHECK(std::sqrt(square) == Approx(1).epsilon(.2));
  CHECK_THAT(f.LastReport(), Contains("\"events\":\"0\"") && !Contains("ndcg10") && !Contains("\"loss\""));
  CHECK(f.coordinator->epsilon() > 1);
  CHECK(std::isfinite(f.coordinator->epsilon()));
}

TEST_CASE("A draw below the quorum is a round without an update, and counts") {
  federated::Plan plan = SmallPlan();
  plan.set_sampling_rate(1e-6);
  Federation f(4, plan);
  const std::vector<float> before = f.ModelNow();
  f.Step();
  CHECK(f.coordinator->finished_rounds() == 1);
  CHECK_THAT(f.LastReport(), Contains("\"skipped\":true"));
  CHECK(f.ModelNow() == before);
}

TEST_CASE("Options and plans out of range are refused by name") {
  FederationFolder folder;
  const auto refused = [&](auto change) {
    CoordinatorOptions options;
    options.plan = SmallPlan();
    options.state_folder = folder / "s";
    change(options);
    return std::string(Coordinator::Open(options).status().message());
  };
  CHECK_THAT(refused([](auto& o) { o.quorum = 1; }), Contains("quorum is 1") && Contains("its update"));
  CHECK_THAT(refused([](auto& o) { o.plan.set_buckets(3); }), Contains("buckets is 3"));
  CHECK_THAT(refused([](auto& o) { o.plan.set_noise(1); }), Contains("equal_weights"));
  CHECK_THAT(refused([](auto& o) { o.expected_sites = 2; }), Contains("expected"));
  CHECK_THAT(refused([](auto& o) { (*o.plan.mutable_network())["width"] = 7.5; }), Contains("network.width"));
}

TEST_CASE("An update that is not finite is refused where it is made") {
  const federated::Plan plan = SmallPlan();
  LocalUpdate update;
  update.moved = {1, std::numeric_limits<float>::quiet_NaN()};
  update.events = 5;
  CHECK_THAT(std::string(EncodeUpdate(plan, &update).status().message()), Contains("not finite"));
  // And a large one is clipped, not refused.
  update.moved = {3000, 4000};
  REQUIRE(EncodeUpdate(plan, &update).ok());
  CHECK(update.moved[0] == Approx(4.8));
}

}  // namespace
}  // namespace waymark
