#include "training/retriever/retriever_validation.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "recommend/network/encoder.h"
#include "recommend/network/pointwise_kernels.h"
#include "training/evaluation/recommend_metrics.h"

namespace waymark {
namespace {

constexpr size_t kDecided = 10;         // places that the metrics look at
constexpr size_t kKept = 2 * kDecided;  // as many items with the target's score or a better one: out of those
constexpr int64_t kLanes = 64;          // columns that kernels of products take together, a multiple of
constexpr float kOut = -std::numeric_limits<float>::infinity();

// What has been seen of the items that compete with a user's target.
class Competitors {
 public:
  // The best scores, falling; the target itself is not among them.
  void See(float score) {
    if (score <= best_.back()) return;
    size_t place = kKept - 1;
    for (; place > 0 && best_[place - 1] < score; --place) best_[place] = best_[place - 1];
    best_[place] = score;
  }
  void SetTarget(float score) { target_ = score, has_target_ = true; }
  double Rank() const {
    if (!has_target_) return std::numeric_limits<double>::infinity();
    const auto better = std::count_if(best_.begin(), best_.end(), [&](float s) { return s > target_; });
    const auto equal = std::count(best_.begin(), best_.end(), target_);
    return 1 + static_cast<double>(better) + static_cast<double>(equal) / 2;
  }

 private:
  std::vector<float> best_ = std::vector<float>(kKept, kOut);
  float target_ = kOut;
  bool has_target_ = false;
};

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

at::Tensor TokensOf(absl::Span<const int64_t> items, ValidationItems* source) {
  absl::flat_hash_map<int64_t, int32_t> place_of;
  std::vector<int64_t> distinct;
  std::vector<int32_t> places;
  for (int64_t item : items) {
    const auto [found, fresh] = place_of.try_emplace(item, static_cast<int32_t>(distinct.size()));
    if (fresh) distinct.push_back(item);
    places.push_back(found->second);
  }
  const at::Tensor vectors = source->VectorsOf(distinct);
  at::Tensor tokens = at::empty({static_cast<int64_t>(items.size()), vectors.size(1)}, at::kFloat);
  CopyRows(vectors.data_ptr<float>(), places, vectors.size(1), tokens.data_ptr<float>());
  return tokens;
}

std::vector<double> RankHeldOut(absl::Span<const size_t> users, const at::Tensor& states,
                                const RetrieverCorpus& corpus, ValidationItems* source, ShardPool* pool,
                                const ValidationSizes& sizes) {
  const auto all = static_cast<int64_t>(corpus.vocabulary.size());
  const int64_t at_once = (std::min(sizes.items, all) + kLanes - 1) / kLanes * kLanes, width = states.size(1);
  const auto together = static_cast<int64_t>(sizes.users);
  std::vector<Competitors> competitors(users.size());
  // Every product has the same shape, those of the last items too, and no columns beyond whole lanes: equal
  // items have equal vectors and scores wherever they lie.
  at::Tensor units = at::zeros({at_once, width}, at::kFloat);
  std::vector<int64_t> items;
  for (int64_t first = 0; first < all; first += at_once) {
    const int64_t count = std::min(at_once, all - first);
    items.assign(static_cast<size_t>(at_once), first);
    std::iota(items.begin(), items.begin() + count, first);
    const at::Tensor vectors = source->VectorsOf(items);
    NormalizeRows(vectors.data_ptr<float>(), at_once, width, units.data_ptr<float>(), nullptr);
    pool->Run((users.size() + sizes.users - 1) / sizes.users, [&](size_t part) {
      at::NoGradGuard no_grad;
      const auto own = users.subspan(part * sizes.users, sizes.users);
      const auto begin = static_cast<int64_t>(part) * together;
      at::Tensor of_users = at::zeros({together, width}, at::kFloat);
      of_users.narrow(0, 0, static_cast<int64_t>(own.size()))
          .copy_(states.narrow(0, begin, static_cast<int64_t>(own.size())));
      const at::Tensor scores = at::mm(of_users, units.t());
      for (size_t i = 0; i < own.size(); ++i) {
        const size_t u = own[i];
        float* row = scores.data_ptr<float>() + static_cast<int64_t>(i) * at_once;
        Competitors& competitor = competitors[part * sizes.users + i];
        const int64_t target = corpus.target(u) - first;
        const bool here = corpus.target(u) != kNoRow && target >= 0 && target < count;
        if (here) competitor.SetTarget(row[target]);
        for (uint64_t e = corpus.start(u); e < corpus.ends[u]; ++e) {
          const int64_t seen = corpus.rows[e] - first;
          if (seen >= 0 && seen < count) row[seen] = kOut;
        }
        if (here) row[target] = kOut;
        for (int64_t c = 0; c < count; ++c) competitor.See(row[c]);
      }
    });
  }
  std::vector<double> ranks;
  for (const Competitors& competitor : competitors) ranks.push_back(competitor.Rank());
  return ranks;
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
  OwnValidationItems items(&model.dense, model.tables, &corpus);
  return ValidateOn(model.shape, model.dense, items.get(), corpus, users, pool);
}

RetrieverValidation ValidateOn(const RetrieverShape& shape, const DenseWeights& dense, ValidationItems* items,
                               const RetrieverCorpus& corpus, absl::Span<const size_t> users, ShardPool* pool,
                               const ValidationSizes& sizes) {
  at::NoGradGuard no_grad;
  RetrieverValidation result;
  result.users = users.size();
  EncoderOptions options;
  options.recompute = true;  // buffers of one block at a time: nothing goes backward
  const Encoder encoder(shape, &dense, options);
  RecommendMetrics metrics(kDecided, corpus.vocabulary.size());
  const auto blocks = items->MostOfRanks(
      static_cast<int64_t>((users.size() + sizes.users_of_block - 1) / sizes.users_of_block));
  for (int64_t b = 0; b < blocks; ++b) {
    const size_t begin = std::min(users.size(), static_cast<size_t>(b) * sizes.users_of_block);
    const auto block = users.subspan(begin, sizes.users_of_block);
    at::Tensor states = at::empty({static_cast<int64_t>(block.size()), shape.width}, at::kFloat);
    // A part a thread at a time, whose vectors are made before.
    const size_t round = sizes.users * pool->threads();
    const auto rounds = items->MostOfRanks(static_cast<int64_t>((block.size() + round - 1) / round));
    for (int64_t r = 0; r < rounds; ++r) {
      const size_t first = std::min(block.size(), static_cast<size_t>(r) * round);
      const auto of_round = block.subspan(first, round);
      std::vector<SequenceLayout> layouts;
      std::vector<int64_t> seen, starts;
      for (size_t i = 0; i < of_round.size(); i += sizes.users) {
        layouts.emplace_back(shape.time_buckets);
        const std::vector<int64_t> own =
            LayOut(of_round.subspan(i, sizes.users), corpus, shape, &layouts.back());
        starts.push_back(static_cast<int64_t>(seen.size()));
        seen.insert(seen.end(), own.begin(), own.end());
      }
      starts.push_back(static_cast<int64_t>(seen.size()));
      const at::Tensor tokens = TokensOf(seen, items);
      pool->Run(layouts.size(), [&](size_t part) {
        at::NoGradGuard of_thread;
        thread_local EncoderWorkspace workspace;
        const at::Tensor own = tokens.narrow(0, starts[part], starts[part + 1] - starts[part]);
        const at::Tensor newest = encoder.EncodeNewest(layouts[part], own, &workspace);
        states.narrow(0, static_cast<int64_t>(first + part * sizes.users), newest.size(0)).copy_(newest);
      });
    }
    for (double rank : RankHeldOut(block, states, corpus, items, pool, sizes)) metrics.AddRank(rank);
  }
  result.ndcg10 = metrics.ndcg();
  result.hit10 = metrics.hit_rate();
  return result;
}

}  // namespace waymark
