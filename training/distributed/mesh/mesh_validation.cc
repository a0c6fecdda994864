#include "training/distributed/mesh/mesh_validation.h"

#include <algorithm>

#include "recommend/network/encoder.h"
#include "training/evaluation/recommend_metrics.h"

namespace waymark {
namespace {

constexpr size_t kUsersOfChunk = 64;

// The states of each sequence's newest token.
at::Tensor NewestOf(const at::Tensor& states, const SequenceLayout& layout) {
  at::Tensor newest = at::empty({static_cast<int64_t>(layout.sequences()), states.size(1)}, at::kFloat);
  for (size_t s = 0; s < layout.sequences(); ++s) {
    newest[static_cast<int64_t>(s)].copy_(
        states[static_cast<int64_t>(layout.start(s) + layout.length(s) - 1)]);
  }
  return newest;
}

class MeshValidator {
 public:
  MeshValidator(const RetrieverModel& model, ValidationItems* items, const RetrieverCorpus& corpus,
                MeshPeers* peers, ShardPool* pool)
      : model_(model),
        items_(items),
        corpus_(corpus),
        peers_(peers),
        pool_(pool),
        first_(model.dense.slice.items),
        last_(model.dense.slice.final_norm),
        encoder_(model.shape, &model.dense, {peers->parts(), /*recompute=*/true}) {}

  // Ranks of the users' targets, where the items are.
  std::vector<double> Run(absl::Span<const size_t> users) {
    std::vector<double> ranks;
    const ValidationSizes sizes;
    const size_t own = (users.size() + sizes.users_of_block - 1) / sizes.users_of_block;
    const size_t blocks = MostOfRanks(own);
    for (size_t b = 0; b < blocks; ++b) {
      const size_t begin = std::min(users.size(), b * sizes.users_of_block);
      users_ = users.subspan(begin, sizes.users_of_block);
      EncodeBlock();
      if (!first_) continue;
      const std::vector<double> of_block = RankHeldOut(users_, newest_, corpus_, items_, pool_, sizes);
      ranks.insert(ranks.end(), of_block.begin(), of_block.end());
    }
    return ranks;
  }

 private:
  absl::Span<const size_t> Chunk(size_t c) const { return users_.subspan(c * kUsersOfChunk, kUsersOfChunk); }
  int64_t width() const { return model_.shape.width; }
  // Of the ranks whose tables are one: those with items.
  size_t MostOfRanks(size_t own) {
    return first_ ? static_cast<size_t>(items_->MostOfRanks(static_cast<int64_t>(own))) : own;
  }

  void EncodeBlock() {
    newest_ = at::empty({static_cast<int64_t>(users_.size()), width()}, at::kFloat);
    const size_t chunks = (users_.size() + kUsersOfChunk - 1) / kUsersOfChunk, rounds = MostOfRanks(chunks);
    // The first stage goes on while the last ones are at work, as far as there are stages.
    const size_t ahead = last_ ? 0 : peers_->stages() - 1;
    for (size_t c = 0; c < std::max(rounds, chunks + ahead); ++c) {
      if (c < chunks) {
        Pass(c);
      } else if (c < rounds && first_) {
        (void)TokensOf({}, items_);  // others have more users
      }
      if (first_ && !last_ && c >= ahead && c - ahead < chunks) Receive(c - ahead);
    }
    peers_->FinishSends();
  }

  void Keep(size_t c, const at::Tensor& newest) {
    newest_.narrow(0, static_cast<int64_t>(c * kUsersOfChunk), newest.size(0)).copy_(newest);
  }

  void Pass(size_t c) {
    SequenceLayout layout(model_.shape.time_buckets);
    const std::vector<int64_t> seen = LayOut(Chunk(c), corpus_, model_.shape, &layout);
    at::Tensor tokens =
        first_ ? TokensOf(seen, items_) : at::empty({static_cast<int64_t>(seen.size()), width()}, at::kFloat);
    if (!first_) peers_->ReceiveForward(&tokens);
    encoder_.Forward(layout, tokens, {}, &workspace_, &states_);
    if (!last_) return peers_->SendForward(states_);
    const at::Tensor newest = NewestOf(states_, layout);
    if (!first_) return peers_->SendItems(newest);
    Keep(c, newest);
  }

  void Receive(size_t c) {
    at::Tensor newest = at::empty({static_cast<int64_t>(Chunk(c).size()), width()}, at::kFloat);
    peers_->ReceiveItems(&newest);
    Keep(c, newest);
    peers_->FinishSends();
  }

  const RetrieverModel& model_;
  ValidationItems* items_;
  const RetrieverCorpus& corpus_;
  MeshPeers* peers_;
  ShardPool* pool_;
  bool first_, last_;
  Encoder encoder_;
  EncoderWorkspace workspace_;
  absl::Span<const size_t> users_;  // of the block
  at::Tensor states_, newest_;
};

}  // namespace

RetrieverValidation ValidateOnMesh(const RetrieverModel& model, ValidationItems* items,
                                   const RetrieverCorpus& corpus, absl::Span<const size_t> users,
                                   MeshPeers* peers, ShardPool* pool) {
  at::NoGradGuard no_grad;
  RetrieverValidation result;
  result.users = users.size();
  const std::vector<double> ranks = MeshValidator(model, items, corpus, peers, pool).Run(users);
  // Only who has the items knows; of parts of blocks, each.
  if (model.dense.slice.items && model.dense.slice.part == 0) {
    RecommendMetrics metrics(10, corpus.vocabulary.size());
    for (double rank : ranks) metrics.AddRank(rank);
    result.ndcg10 = metrics.ndcg();
    result.hit10 = metrics.hit_rate();
  }
  result.ndcg10 = peers->SumOfAll(result.ndcg10);
  result.hit10 = peers->SumOfAll(result.hit10);
  peers->TakeWaited();
  return result;
}

}  // namespace waymark
