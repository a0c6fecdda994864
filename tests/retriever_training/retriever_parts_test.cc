#include <torch/torch.h>

#include <cmath>
#include <map>
#include <numeric>

#include "tests/retriever_training/training_fixture.h"
#include "tests/support/catch.h"
#include "training/retriever/cosine_softmax.h"
#include "training/retriever/distinct_rows.h"
#include "training/retriever/row_adam.h"
#include "training/retriever/window_batches.h"
#include "training/shard_pool.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures

TEST_CASE("An epoch predicts every training event but a user's first exactly once") {
  Interactions events;
  for (size_t length : {1, 2, 5, 12, 13, 14, 100, 3, 0, 40}) {
    std::vector<ItemOrdinal> history(length);
    std::iota(history.begin(), history.end(), 0);
    AddHistory(&events, history);
  }
  RetrieverOptions options = SmallOptions();
  options.held_out = 1;
  options.batch_tokens = 30;
  options.shards = 3;
  const MemoryDirectory items = PlainItems(events.item_end);
  const auto corpus = MakeRetrieverCorpus(events, items, options);
  REQUIRE(corpus.ok());
  std::map<std::vector<uint64_t>, int> orders;
  for (uint64_t epoch = 0; epoch < 5; ++epoch) {
    std::map<uint64_t, int> predicted;
    std::vector<uint64_t> order;
    for (const TrainingBatch& batch : BatchesOfEpoch(*corpus, options, epoch)) {
      REQUIRE(batch.shards.size() == 3);
      size_t tokens = 0;
      for (const auto& shard : batch.shards) {
        for (const TrainingWindow& window : shard) {
          CHECK(window.length <= 12);
          order.push_back(window.first);
          tokens += window.length;
          for (uint64_t e = window.first; e < window.first + window.length; ++e) ++predicted[e + 1];
        }
      }
      CHECK(tokens == batch.tokens);
      CHECK(batch.tokens < 30 + 12);
    }
    ++orders[order];
    size_t expected = 0;
    for (size_t u = 0; u < events.user_count(); ++u) {
      for (uint64_t e = events.starts[u] + 1; e + 1 < events.starts[u + 1]; ++e, ++expected)
        CHECK(predicted[e] == 1);
    }
    CHECK(predicted.size() == expected);
  }
  CHECK(orders.size() == 5);
}

TEST_CASE(
    "Loss and gradients of the cosine softmax equal automatic differentiation, collisions counted once") {
  const int64_t tokens = 150, width = 16, units = 40, contrasted = 25;
  at::manual_seed(3);
  const at::Tensor states = at::randn({tokens, width}).requires_grad_();
  const at::Tensor raw = at::randn({units, width});
  const at::Tensor unit = (raw / raw.norm(2, 1, true)).detach().requires_grad_();
  std::vector<int32_t> targets(tokens);
  for (int64_t t = 0; t < tokens; ++t) targets[t] = static_cast<int32_t>((t * 7) % units);

  const at::Tensor cosine = at::mm(states / states.norm(2, 1, true), unit.t()) / 0.1;
  at::Tensor loss = at::zeros({});
  for (int64_t t = 0; t < tokens; ++t) {
    std::vector<at::Tensor> against{cosine[t][targets[t]]};
    for (int64_t n = 0; n < contrasted; ++n) {
      if (n != targets[t]) against.push_back(cosine[t][n]);
    }
    loss = loss + (at::logsumexp(at::stack(against), 0) - cosine[t][targets[t]]) / tokens;
  }
  loss.backward();

  SoftmaxScratch scratch;
  at::Tensor dstates = at::empty({0}), dunits = at::zeros({units, width});
  const SoftmaxInput input{states.detach(), unit.detach(), contrasted, targets, 0.1, 1.0 / tokens};
  CHECK(CosineSoftmax(input, &scratch, &dstates, &dunits) == Approx(loss.item<double>()).epsilon(1e-5));
  CHECK((dstates - states.grad()).abs().max().item<double>() < 1e-6);
  CHECK((dunits - unit.grad()).abs().max().item<double>() < 1e-5);
}

TEST_CASE("Adam's first two steps are those worked out by hand, and rows without a gradient stay") {
  std::vector<float> weights{1, 2, 3}, first(3), second(3);
  const AdamTable table{weights.data(), first.data(), second.data(), 1};
  AdamStep step;
  step.learning_rate = 0.1;
  step.step = 1;
  const float g1 = 0.5f;
  AdamRows(step, {1}, &g1, table);
  // The corrected moments are g and g^2: a step of the learning rate.
  CHECK(weights[1] == Approx(1.9));
  step.step = 2;
  const float g2 = -1.0f;
  AdamRows(step, {1}, &g2, table);
  // m = .9 * .05 - .1 = -.055, / (1 - .81) = -.289474; v = .98 * .005 + .02 = .0249, / (1 - .9604) = .628788.
  CHECK(weights[1] == Approx(1.9 + 0.1 * 0.289474 / std::sqrt(0.628788)).epsilon(1e-5));
  CHECK(weights[0] == 1);
  CHECK(weights[2] == 3);
}

TEST_CASE("Rows that a batch uses often are one row each, and their gradients are added up") {
  DistinctRows distinct(10);
  std::vector<int32_t> places;
  for (int64_t row : {7, 2, 7, 9, 2, 7}) places.push_back(distinct.Place(row));
  CHECK(distinct.rows() == std::vector<int64_t>{7, 2, 9});
  CHECK(places == std::vector<int32_t>{0, 1, 0, 2, 1, 0});
  const std::vector<float> rows{1, 2, 3, 4, 5, 6};  // of 7, 2 and 9
  std::vector<float> tokens(12), sums(6, 0.5f);
  CopyRows(rows.data(), places, 2, tokens.data());
  CHECK(tokens == std::vector<float>{1, 2, 3, 4, 1, 2, 5, 6, 3, 4, 1, 2});
  AddRows(tokens.data(), places, 2, sums.data());
  CHECK(sums == std::vector<float>{3.5f, 6.5f, 6.5f, 8.5f, 5.5f, 6.5f});
  distinct.Clear();
  CHECK(distinct.Place(2) == 0);
  CHECK(distinct.rows() == std::vector<int64_t>{2});
}

TEST_CASE("A pool runs every part once and passes an exception on") {
  for (int threads : {1, 2, 3, 8}) {
    ShardPool pool(threads);
    for (size_t parts : {0, 1, 2, 5, 100}) {
      std::vector<int> runs(parts);
      pool.Run(parts, [&](size_t part) { ++runs[part]; });
      CHECK(std::count(runs.begin(), runs.end(), 1) == static_cast<long>(parts));
    }
    CHECK_THROWS_AS(pool.Run(4,
                             [](size_t part) {
                               if (part == 3) throw std::runtime_error("three");
                             }),
                    std::runtime_error);
    int done = 0;
    pool.Run(1, [&](size_t) { ++done; });
    CHECK(done == 1);
  }
}

TEST_CASE("Defaults follow the data: long histories and small catalogues get the dense recipe") {
  const RetrieverOptions sparse = RetrieverOptionsFor(MarkovHistories(600, 9, 5000, 3, 1));
  CHECK(sparse.shape.history_limit == 50);
  CHECK(sparse.shape.temperature == 0.07);
  const RetrieverOptions dense = RetrieverOptionsFor(MarkovHistories(50, 80, 300, 3, 1));
  CHECK(dense.shape.history_limit == 100);
  CHECK(dense.shape.temperature == 0.1);
  CHECK(dense.negatives >= 300);
}

TEST_CASE("Options out of range are refused by name") {
  RetrieverOptions options;
  options.dropout = 1.5;
  CHECK_THAT(std::string(options.Check().message()), Catch::Matchers::Contains("dropout"));
  options = {};
  options.shape.heads = 3;
  CHECK_THAT(std::string(options.Check().message()), Catch::Matchers::Contains("heads"));
  options = {};
  options.time_budget = absl::ZeroDuration();
  CHECK_THAT(std::string(options.Check().message()), Catch::Matchers::Contains("time_budget"));
}

}  // namespace
}  // namespace waymark
