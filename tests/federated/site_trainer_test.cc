#include "training/federated/model/site_trainer.h"

#include <cmath>
#include <numeric>

#include "recommend/retriever.h"
#include "tests/federated/federation_fixture.h"
#include "tests/retriever_training/training_fixture.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

constexpr ItemOrdinal kItems = 60;

federated::Plan ChainPlan() {
  const RetrieverOptions small = SmallOptions();
  federated::Plan plan = DefaultPlan();
  small.shape.ToNetwork(plan.mutable_network());
  plan.set_session("s");
  plan.set_buckets(256);
  plan.set_batch_tokens(small.batch_tokens);
  plan.set_dropout(small.dropout);
  plan.set_rounds(12);
  plan.set_rounds_an_epoch(1);
  plan.set_server_rate(1);
  plan.set_table_factor(1);
  return plan;
}

Interactions SitePart(const Interactions& all, size_t site, size_t sites) {
  Interactions part;
  for (size_t u = site; u < all.user_count(); u += sites) {
    const uint64_t first = all.starts[u], count = all.starts[u + 1] - first;
    part.AddUser(all.users[u], all.ItemsOf(u), absl::MakeConstSpan(all.times_us).subspan(first, count),
                 absl::MakeConstSpan(all.offsets).subspan(first, count));
  }
  part.item_end = all.item_end;
  return part;
}

// One unmasked round; masks change no digit (masking_test.cc).
void PlainRound(const federated::Plan& plan, int round, std::vector<std::unique_ptr<SiteTrainer>>& sites,
                std::vector<float>* model, double* ndcg) {
  std::vector<double> sum(model->size(), 0);
  double weight = 0;
  *ndcg = 0;
  for (auto& site : sites) {
    auto update = site->Train(*model, round, {});
    INFO(update.status().ToString());
    REQUIRE(update.ok());
    *ndcg += update->ndcg10 / static_cast<double>(sites.size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(update->events) * update->moved[i];
    weight += static_cast<double>(update->events);
  }
  for (size_t i = 0; i < sum.size(); ++i) (*model)[i] += static_cast<float>(sum[i] / weight);
  (void)plan;
}

TEST_CASE("Four sites that share no event reach nine tenths of central training, as a package that serves") {
  const Scratch scratch;
  const Interactions events = MarkovHistories(800, 12, kItems, 2, 5);
  const MemoryDirectory items = PlainItems(kItems);
  RetrieverOptions central = SmallOptions();
  central.epochs = 12;
  const auto whole = TrainRetriever(events, items, central, RunInto(scratch / "central"));
  REQUIRE(whole.ok());

  const federated::Plan plan = ChainPlan();
  const auto layout = ExchangedLayout::Of(plan);
  REQUIRE(layout.ok());
  std::vector<Interactions> parts;
  for (size_t s = 0; s < 4; ++s) parts.push_back(SitePart(events, s, 4));
  std::vector<std::unique_ptr<SiteTrainer>> sites;
  for (size_t s = 0; s < 4; ++s) {
    sites.push_back(*SiteTrainer::Make(parts[s], items, plan, {"site" + std::to_string(s), 2}));
  }
  std::vector<float> model = InitialModel(plan, *layout);
  double ndcg = 0;
  for (int round = 1; round <= plan.rounds(); ++round) PlainRound(plan, round, sites, &model, &ndcg);
  double last = 0;
  std::vector<float> beyond = model;
  PlainRound(plan, plan.rounds(), sites, &beyond, &last);  // measures the model as it came
  INFO("central " << whole->validation_ndcg10 << ", federated " << last);
  CHECK(last >= .9 * whole->validation_ndcg10);

  std::vector<ItemOrdinal> every(kItems);
  std::iota(every.begin(), every.end(), 0);
  FederatedPackage about;
  about.version = "f1";
  const auto package =
      WriteFederatedPackage(scratch / "federated", plan, *layout, model, items.Ids(every), about);
  REQUIRE(package.ok());
  const auto retriever = Retriever::Load(*package, &items);
  INFO(retriever.status().ToString());
  REQUIRE(retriever.ok());
  // The two successors of each item come first.
  std::vector<float> vectors(kItems * 32), user(32);
  REQUIRE((*retriever)->EmbedItems(every, absl::MakeSpan(vectors)).ok());
  int found = 0;
  for (ItemOrdinal from = 0; from < kItems; ++from) {
    std::vector<HistoryEvent> history(1);
    history[0].item = from;
    REQUIRE((*retriever)->EncodeUser(history, absl::UnixEpoch(), absl::MakeSpan(user)).ok());
    std::vector<std::pair<float, ItemOrdinal>> scored;
    for (ItemOrdinal i = 0; i < kItems; ++i) {
      scored.push_back({-std::inner_product(user.begin(), user.end(), vectors.begin() + i * 32, 0.0f), i});
    }
    std::sort(scored.begin(), scored.end());
    for (int k = 0; k < 2; ++k) {
      found += scored[k].second == (from * 7 + 3) % kItems || scored[k].second == (from * 7 + 8) % kItems;
    }
  }
  CHECK(found > 95);  // of 120
}

TEST_CASE(
    "A site's first update is the same for any number of threads, another site's or round's is another") {
  const Interactions events = MarkovHistories(100, 12, kItems, 2, 5);
  const MemoryDirectory items = PlainItems(kItems);
  const federated::Plan plan = ChainPlan();
  const std::vector<float> model = InitialModel(plan, *ExchangedLayout::Of(plan));
  auto one = *SiteTrainer::Make(events, items, plan, {"north", 1});
  auto again = *SiteTrainer::Make(events, items, plan, {"north", 2});
  auto other = *SiteTrainer::Make(events, items, plan, {"south", 1});
  const auto first = one->Train(model, 1, {});
  REQUIRE(first.ok());
  CHECK(first->events == 100 * 10);  // a target for each event but the first, and one held out
  CHECK(first->users == 100);
  CHECK(again->Train(model, 1, {})->moved == first->moved);
  CHECK(other->Train(model, 1, {})->moved != first->moved);
  auto later = *SiteTrainer::Make(events, items, plan, {"north", 1});
  CHECK(later->Train(model, 2, {})->moved != first->moved);
}

TEST_CASE("Too little data, a model of another size and a stop are said so") {
  const MemoryDirectory items = PlainItems(kItems);
  const federated::Plan plan = ChainPlan();
  const Interactions none;
  CHECK(absl::IsFailedPrecondition(SiteTrainer::Make(none, items, plan, {"north", 1}).status()));
  const Interactions events = MarkovHistories(100, 12, kItems, 2, 5);
  auto site = *SiteTrainer::Make(events, items, plan, {"north", 1});
  CHECK_THAT(std::string(site->Train({1.0f, 2.0f}, 1, {}).status().message()), Contains("has 2 numbers"));
  std::stop_source stop;
  stop.request_stop();
  const std::vector<float> model = InitialModel(plan, *ExchangedLayout::Of(plan));
  CHECK(absl::IsCancelled(site->Train(model, 1, stop.get_token()).status()));
}

}  // namespace
}  // namespace waymark
