#include "training/retriever/retriever_validation.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "recommend/network/encoder.h"
#include "recommend/network/pointwise_kernels.h"
#include "training/evaluation/recommend_metrics.h"

namespace waymark {
namespace {

constexpr size_t kUsersAtOnce = 64;
constexpr double kMissed = std::numeric_limits<double>::infinity();

}  // namespace

std::vector<int64_t> LayOut(absl::Span<const size_t> users, const RetrieverCorpus& corpus,
                            const RetrieverShape& shape, SequenceLayout* layout) {
  std::vector<int64_t> rows;
  for (size_t u : users) {
    const uint64_t length = std::min<uint64_t>(corpus.ends[u] - corpus.start(u), shape.history_limit);
    const uint64_t first = corpus.ends[u] - length;
    layout->Add(absl::MakeConstSpan(corpus.interactions->times_us).subspan(first, length));
    rows.insert(rows.end(), corpus.rows.begin() + first, corpus.rows.begin() + corpus.ends[u]);
  }
  return rows;
}

HeldOutRanks::HeldOutRanks(const DenseWeights& dense, const ItemTables& tables, const RetrieverCorpus& corpus)
    : corpus_(corpus) {
  std::vector<int64_t> items(corpus.vocabulary.size());
  std::iota(items.begin(), items.end(), 0);
  std::vector<int64_t> rows = items;
  for (int64_t& row : rows) row = corpus.IdRow(row);
  at::Tensor pooled;
  EncodeItems(dense, tables, corpus.content, rows, items, &vectors_, &pooled);
  units_ = at::empty_like(vectors_);
  NormalizeRows(vectors_.data_ptr<float>(), vectors_.size(0), vectors_.size(1), units_.data_ptr<float>(),
                nullptr);
}

at::Tensor HeldOutRanks::VectorsOf(const std::vector<int64_t>& rows) const {
  const int64_t width = vectors_.size(1);
  at::Tensor tokens = at::empty({static_cast<int64_t>(rows.size()), width}, at::kFloat);
  for (size_t t = 0; t < rows.size(); ++t) {
    std::copy_n(vectors_.data_ptr<float>() + rows[t] * width, width, tokens.data_ptr<float>() + t * width);
  }
  return tokens;
}

void HeldOutRanks::Rank(absl::Span<const size_t> users, const at::Tensor& states, double* ranks) const {
  at::NoGradGuard no_grad;
  const int64_t items = units_.size(0);
  const at::Tensor scores = at::mm(states, units_.t());
  for (size_t i = 0; i < users.size(); ++i) {
    const size_t u = users[i];
    float* own = scores.data_ptr<float>() + i * items;
    const int64_t target = corpus_.target(u);
    ranks[i] = kMissed;
    if (target == kNoRow) continue;
    const float kept = own[target];
    for (uint64_t e = corpus_.start(u); e < corpus_.ends[u]; ++e) {
      own[corpus_.rows[e]] = -std::numeric_limits<float>::infinity();
    }
    own[target] = kept;
    ranks[i] = MiddleRank(absl::MakeConstSpan(own, items), target);
  }
}

RetrieverValidation ValidateRetriever(const RetrieverModel& model, const RetrieverCorpus& corpus,
                                      size_t most_users, ShardPool* pool) {
  std::vector<size_t> users;
  for (size_t u = 0; u < corpus.ends.size(); ++u) {
    if (corpus.has_target(u)) users.push_back(u);
  }
  if (users.size() > most_users) {
    std::vector<size_t> some;
    for (size_t i = 0; i < most_users; ++i) some.push_back(users[i * users.size() / most_users]);
    users = std::move(some);
  }
  return ValidateOn(model.shape, model.dense, model.tables, corpus, users, pool);
}

RetrieverValidation ValidateOn(const RetrieverShape& shape, const DenseWeights& dense,
                               const ItemTables& tables, const RetrieverCorpus& corpus,
                               absl::Span<const size_t> users, ShardPool* pool) {
  RetrieverValidation result;
  result.users = users.size();
  if (users.empty()) return result;
  const HeldOutRanks held_out(dense, tables, corpus);
  const Encoder encoder(shape, &dense);
  std::vector<double> ranks(users.size());
  const size_t parts = (users.size() + kUsersAtOnce - 1) / kUsersAtOnce;
  pool->Run(parts, [&](size_t part) {
    thread_local EncoderWorkspace workspace;
    const size_t first = part * kUsersAtOnce;
    const auto own = users.subspan(first, kUsersAtOnce);
    SequenceLayout layout(shape.time_buckets);
    const at::Tensor tokens = held_out.VectorsOf(LayOut(own, corpus, shape, &layout));
    held_out.Rank(own, encoder.EncodeNewest(layout, tokens, &workspace), ranks.data() + first);
  });
  RecommendMetrics metrics(10, corpus.vocabulary.size());
  for (double rank : ranks) metrics.AddRank(rank);
  result.ndcg10 = metrics.ndcg();
  result.hit10 = metrics.hit_rate();
  return result;
}

}  // namespace waymark
