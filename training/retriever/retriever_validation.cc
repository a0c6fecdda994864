#include "training/retriever/retriever_validation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "recommend/network/encoder.h"
#include "recommend/network/pointwise_kernels.h"

namespace waymark {
namespace {

constexpr size_t kUsersAtOnce = 64;

// From 1; half a place for each other item of the same score.
double MiddleRank(const float* scores, size_t count, size_t target) {
  size_t above = 0, equal = 0;
  for (size_t i = 0; i < count; ++i) {
    above += scores[i] > scores[target];
    equal += scores[i] == scores[target];
  }
  return 1.0 + static_cast<double>(above) + static_cast<double>(equal - 1) / 2;
}

class Validator {
 public:
  Validator(const RetrieverModel& model, const RetrieverData& data)
      : model_(model), data_(data), encoder_(model.shape, &model.dense) {
    std::vector<int64_t> rows(data.vocabulary.size());
    std::iota(rows.begin(), rows.end(), 0);
    at::Tensor pooled;
    EncodeItems(model.dense, model.tables, data.content, rows, rows, &vectors_, &pooled);
    units_ = at::empty_like(vectors_);
    NormalizeRows(vectors_.data_ptr<float>(), vectors_.size(0), vectors_.size(1), units_.data_ptr<float>(),
                  nullptr);
  }

  // ranks: [users], 0: missed.
  void Rank(absl::Span<const size_t> users, double* ranks, EncoderWorkspace* workspace) const {
    at::NoGradGuard no_grad;
    SequenceLayout layout(model_.shape.time_buckets);
    std::vector<int64_t> rows;
    for (size_t u : users) {
      const uint64_t length = std::min<uint64_t>(data_.ends[u] - data_.start(u), model_.shape.history_limit);
      const uint64_t first = data_.ends[u] - length;
      layout.Add(absl::MakeConstSpan(data_.interactions->times_us).subspan(first, length));
      rows.insert(rows.end(), data_.rows.begin() + first, data_.rows.begin() + data_.ends[u]);
    }
    const int64_t width = model_.shape.width, items = units_.size(0);
    at::Tensor tokens = at::empty({static_cast<int64_t>(rows.size()), width}, at::kFloat);
    for (size_t t = 0; t < rows.size(); ++t) {
      std::copy_n(vectors_.data_ptr<float>() + rows[t] * width, width, tokens.data_ptr<float>() + t * width);
    }
    const at::Tensor scores = at::mm(encoder_.EncodeNewest(layout, tokens, workspace), units_.t());
    for (size_t i = 0; i < users.size(); ++i) {
      const size_t u = users[i];
      float* own = scores.data_ptr<float>() + i * items;
      const int64_t target = data_.target(u);
      ranks[i] = 0;
      if (target == kNoRow) continue;
      const float kept = own[target];
      for (uint64_t e = data_.start(u); e < data_.ends[u]; ++e) {
        own[data_.rows[e]] = -std::numeric_limits<float>::infinity();
      }
      own[target] = kept;
      ranks[i] = MiddleRank(own, items, target);
    }
  }

 private:
  const RetrieverModel& model_;
  const RetrieverData& data_;
  Encoder encoder_;
  at::Tensor vectors_, units_;
};

}  // namespace

RetrieverValidation ValidateRetriever(const RetrieverModel& model, const RetrieverData& data,
                                      size_t most_users, ShardPool* pool) {
  std::vector<size_t> users;
  for (size_t u = 0; u < data.ends.size(); ++u) {
    if (data.has_target(u)) users.push_back(u);
  }
  if (users.size() > most_users) {
    std::vector<size_t> some;
    for (size_t i = 0; i < most_users; ++i) some.push_back(users[i * users.size() / most_users]);
    users = std::move(some);
  }
  RetrieverValidation result;
  result.users = users.size();
  if (users.empty()) return result;
  const Validator validator(model, data);
  std::vector<double> ranks(users.size());
  const size_t parts = (users.size() + kUsersAtOnce - 1) / kUsersAtOnce;
  pool->Run(parts, [&](size_t part) {
    thread_local EncoderWorkspace workspace;
    const size_t first = part * kUsersAtOnce;
    validator.Rank(absl::MakeConstSpan(users).subspan(first, kUsersAtOnce), ranks.data() + first, &workspace);
  });
  for (double rank : ranks) {
    if (rank == 0 || rank > 10) continue;
    result.hit10 += 1;
    result.ndcg10 += 1 / std::log2(1 + rank);
  }
  result.hit10 /= static_cast<double>(users.size());
  result.ndcg10 /= static_cast<double>(users.size());
  return result;
}

}  // namespace waymark
