// Validation goes through users and items some at a time; here against all of them at once, worked out
// plainly.
#include "training/retriever/retriever_validation.h"

#include <cmath>
#include <numeric>
#include <set>

#include "recommend/network/encoder.h"
#include "tests/retriever_training/training_fixture.h"
#include "tests/support/catch.h"
#include "training/retriever/retriever_step.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures

// nDCG@10 and HR@10 in double precision: every item against every user, ties in the middle.
std::pair<double, double> BruteForce(const RetrieverModel& model, const RetrieverCorpus& corpus,
                                     absl::Span<const size_t> users) {
  at::NoGradGuard no_grad;
  std::vector<int64_t> all(corpus.vocabulary.size()), rows;
  std::iota(all.begin(), all.end(), 0);
  for (int64_t item : all) rows.push_back(corpus.IdRow(item));
  at::Tensor vectors, pooled;
  EncodeItems(model.dense, model.tables, corpus.content, rows, all, &vectors, &pooled);
  const at::Tensor units = vectors.to(at::kDouble) / vectors.to(at::kDouble).norm(2, 1, true);
  const Encoder encoder(model.shape, &model.dense);
  double gains = 0, hits = 0;
  for (size_t u : users) {
    SequenceLayout layout(model.shape.time_buckets);
    const std::vector<int64_t> seen = LayOut({&u, 1}, corpus, model.shape, &layout);
    EncoderWorkspace workspace;
    const at::Tensor tokens = vectors.index_select(0, at::tensor(seen, at::kLong));
    const at::Tensor state = encoder.EncodeNewest(layout, tokens.clone(), &workspace).to(at::kDouble).clone();
    const at::Tensor scores = at::mv(units, state[0]);
    const std::set<int64_t> masked(corpus.rows.begin() + static_cast<int64_t>(corpus.start(u)),
                                   corpus.rows.begin() + static_cast<int64_t>(corpus.ends[u]));
    const int64_t target = corpus.target(u);
    double rank = 1;
    for (int64_t item : all) {
      if (item == target || masked.contains(item)) continue;
      const double score = scores[item].item<double>(), own = scores[target].item<double>();
      rank += score > own ? 1 : score == own ? 0.5 : 0;
    }
    if (rank > 10) continue;
    gains += 1 / std::log2(1 + rank);
    hits += 1;
  }
  return {gains / static_cast<double>(users.size()), hits / static_cast<double>(users.size())};
}

TEST_CASE("Any number of users and items at a time gives the metrics of all at once, ties too") {
  const Interactions events = MarkovHistories(150, 12, 61, 2, 5);
  RetrieverOptions options = SmallOptions();
  MemoryDirectory items;
  for (ItemOrdinal i = 0; i < 61; ++i) {
    items.Add("item" + std::to_string(i),
              i % 3 == 0 ? std::vector<uint64_t>{1000 + i, 7} : std::vector<uint64_t>{});
  }
  auto corpus = MakeRetrieverCorpus(events, items, options);
  REQUIRE(corpus.ok());
  // Every fourth item has no row of its own: those of them without content have one vector between them.
  std::vector<int64_t> rows(corpus->vocabulary.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = i % 4 == 1 ? kNoRow : static_cast<int64_t>(i);
  corpus->id_rows = &rows;
  RetrieverModel model(options.shape, static_cast<int64_t>(rows.size()), 3);
  ShardPool pool(1);
  RetrieverStep step(&model, &*corpus, options, &pool);
  const std::vector<TrainingBatch> batches = BatchesOfEpoch(*corpus, options, 0);
  for (int s = 0; s < 30; ++s) step.Run(batches[s % batches.size()], s + 1, 3e-3);

  std::vector<size_t> users;
  for (size_t u = 0; u < corpus->ends.size(); ++u) {
    if (corpus->has_target(u) && corpus->target(u) != kNoRow) users.push_back(u);
  }
  REQUIRE(users.size() > 100);
  const auto [ndcg, hit] = BruteForce(model, *corpus, users);
  CHECK(ndcg > 0.05);  // of the tied ones some are among the best ten
  OwnValidationItems source(&model.dense, model.tables, &*corpus);
  for (const ValidationSizes& sizes :
       {ValidationSizes(), ValidationSizes{7, 3, 20}, ValidationSizes{61, 64, 1}, ValidationSizes{1, 1, 1000},
        ValidationSizes{60, 150, 149}}) {
    for (const int threads : {1, 3}) {
      ShardPool some(threads);
      const RetrieverValidation v =
          ValidateOn(options.shape, model.dense, source.get(), *corpus, users, &some, sizes);
      INFO(sizes.items << " items, " << sizes.users << " and " << sizes.users_of_block << " users");
      CHECK(v.users == users.size());
      CHECK(v.ndcg10 == Approx(ndcg).epsilon(1e-9));
      CHECK(v.hit10 == Approx(hit).epsilon(1e-9));
    }
  }
}

}  // namespace
}  // namespace waymark
