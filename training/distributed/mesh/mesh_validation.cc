#include "training/distributed/mesh/mesh_validation.h"

#include <optional>

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
  MeshValidator(const RetrieverModel& model, const at::Tensor& ids, const RetrieverCorpus& corpus,
                absl::Span<const size_t> users, MeshPeers* peers)
      : model_(model),
        corpus_(corpus),
        users_(users),
        peers_(peers),
        first_(model.dense.slice.items),
        last_(model.dense.slice.final_norm),
        encoder_(model.shape, &model.dense, {peers->parts(), false}),
        ranks_(users.size()) {
    if (first_) held_out_.emplace(model.dense, ItemTables{ids, model.tables.buckets}, corpus);
  }

  std::vector<double> Run() {
    const size_t chunks = (users_.size() + kUsersOfChunk - 1) / kUsersOfChunk;
    // The first stage goes on while the last ones are at work, as far as there are stages.
    const size_t ahead = last_ ? 0 : peers_->stages() - 1;
    for (size_t c = 0; c < chunks + ahead; ++c) {
      if (c < chunks) Pass(c);
      if (first_ && !last_ && c >= ahead) Receive(c - ahead);
    }
    peers_->FinishSends();
    return std::move(ranks_);
  }

 private:
  absl::Span<const size_t> Chunk(size_t c) const { return users_.subspan(c * kUsersOfChunk, kUsersOfChunk); }
  int64_t width() const { return model_.shape.width; }

  void Pass(size_t c) {
    SequenceLayout layout(model_.shape.time_buckets);
    const std::vector<int64_t> rows = LayOut(Chunk(c), corpus_, model_.shape, &layout);
    at::Tensor tokens = first_ ? held_out_->VectorsOf(rows)
                               : at::empty({static_cast<int64_t>(rows.size()), width()}, at::kFloat);
    if (!first_) peers_->ReceiveForward(&tokens);
    encoder_.Forward(layout, tokens, {}, &workspace_, &states_);
    if (!last_) return peers_->SendForward(states_);
    const at::Tensor newest = NewestOf(states_, layout);
    if (!first_) return peers_->SendItems(newest);
    held_out_->Rank(Chunk(c), newest, ranks_.data() + c * kUsersOfChunk);
  }

  void Receive(size_t c) {
    at::Tensor newest = at::empty({static_cast<int64_t>(Chunk(c).size()), width()}, at::kFloat);
    peers_->ReceiveItems(&newest);
    held_out_->Rank(Chunk(c), newest, ranks_.data() + c * kUsersOfChunk);
    peers_->FinishSends();
  }

  const RetrieverModel& model_;
  const RetrieverCorpus& corpus_;
  absl::Span<const size_t> users_;
  MeshPeers* peers_;
  bool first_, last_;
  Encoder encoder_;
  std::optional<HeldOutRanks> held_out_;
  EncoderWorkspace workspace_;
  at::Tensor states_;
  std::vector<double> ranks_;
};

}  // namespace

RetrieverValidation ValidateOnMesh(const RetrieverModel& model, const at::Tensor& ids,
                                   const RetrieverCorpus& corpus, absl::Span<const size_t> users,
                                   MeshPeers* peers) {
  at::NoGradGuard no_grad;
  RetrieverValidation result;
  result.users = users.size();
  if (users.empty()) return result;
  const std::vector<double> ranks = MeshValidator(model, ids, corpus, users, peers).Run();
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
