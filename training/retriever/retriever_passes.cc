// The passes of a step over the parts of its batch: through the encoder, or the process's slice of it.
#include <algorithm>
#include <functional>

#include "training/lap.h"
#include "training/retriever/pipeline_schedule.h"
#include "training/retriever/retriever_step.h"

namespace waymark {
namespace {

float* FloatsOf(const at::Tensor& tensor) { return tensor.data_ptr<float>(); }

}  // namespace

void RetrieverStep::ZeroSums(PartSums* sums) {
  const auto items = static_cast<int64_t>(items_.size());
  sums->gradients.flat.zero_();
  sums->dvectors.resize_({items, model_->shape.width}).zero_();
  sums->dunits.resize_({items, model_->shape.width}).zero_();
}

void RetrieverStep::ForwardPart(Shard* shard, const Micro& micro, uint64_t key, double scale) {
  at::NoGradGuard no_grad;
  const int64_t width = model_->shape.width, tokens = static_cast<int64_t>(micro.inputs.size());
  Lap lap;
  shard->tokens.resize_({tokens, width});
  if (first_) {
    CopyRows(FloatsOf(vectors_), micro.inputs, width, FloatsOf(shard->tokens));
  } else {
    setting_.peers->ReceiveForward(&shard->tokens);
  }
  encoder_.Forward(micro.layout, shard->tokens, {options_.dropout, key, micro.first_token}, shard->workspace,
                   &shard->states);
  if (last_) {
    SoftmaxInput input{shard->states, units_, contrasted_, micro.targets, model_->shape.temperature, scale};
    shard->loss += CosineSoftmax(input, &shard->softmax, &shard->dstates, &shard->sums->dunits);
  } else {
    setting_.peers->SendForward(shard->states);
  }
  shard->forward_s += lap(&shard->cpu_s);
}

void RetrieverStep::BackwardPart(Shard* shard, const Micro& micro, uint64_t key, bool last) {
  at::NoGradGuard no_grad;
  const int64_t width = model_->shape.width, tokens = static_cast<int64_t>(micro.inputs.size());
  Lap lap;
  if (!last_) {
    shard->dstates.resize_({tokens, width});
    setting_.peers->ReceiveBack(&shard->dstates);
  }
  const std::function<void(int)> block_done = [this](int block) { BlockDone(block); };
  encoder_.Backward(micro.layout, shard->dstates, {options_.dropout, key, micro.first_token},
                    shard->workspace, &shard->sums->gradients, &shard->dtokens,
                    ranks_ != nullptr && last ? &block_done : nullptr);
  if (first_) {
    AddRows(FloatsOf(shard->dtokens), micro.inputs, width, FloatsOf(shard->sums->dvectors));
  } else {
    setting_.peers->SendBack(shard->dtokens);
  }
  shard->backward_s += lap(&shard->cpu_s);
}

void RetrieverStep::RunParts(const TrainingBatch& batch, int64_t number) {
  const double scale = 1.0 / static_cast<double>(std::max<size_t>(batch.tokens, 1));
  const auto pass = [&](size_t s, bool forward, bool backward) {
    Shard* shard = shards_[s].get();
    if (forward) shard->loss = 0;
    const auto last = std::find_if(shard->micros.rbegin(), shard->micros.rend(),
                                   [](const Micro& micro) { return !micro.inputs.empty(); });
    if (last == shard->micros.rend()) {
      for (int b = static_cast<int>(parts_left_.size()) - 1; b >= 0 && ranks_ != nullptr && backward; --b) {
        BlockDone(b);
      }
      return;
    }
    const uint64_t part = batch.parts.empty() ? s : batch.parts[s];
    const uint64_t key = RandomKey(options_.seed, {static_cast<uint64_t>(number), part, kDropoutOfParts});
    for (Micro& micro : shard->micros) {
      if (micro.inputs.empty()) continue;
      if (forward) ForwardPart(shard, micro, key, scale);
      if (backward) BackwardPart(shard, micro, key, &micro == &*last);
    }
  };
  for (std::atomic<int>& left : parts_left_) left = static_cast<int>(shards_.size());
  if (setting_.one_sum) ZeroSums(sums_[0].get());
  if (first_ && last_) {
    pool_->Run(shards_.size(), [&](size_t s) {
      if (!setting_.one_sum) ZeroSums(shards_[s]->sums);
      pass(s, true, true);
    });
    return;
  }
  const ModelPeers& peers = *setting_.peers;
  for (const PartPass& next : OneForwardOneBackward(peers.stage(), peers.stages(), shards_.size())) {
    pass(next.part, !next.backward, next.backward);
  }
}

void RetrieverStep::AddUpDense(int64_t first, int64_t last) {
  at::Tensor sum = sums_[0]->gradients.flat.narrow(0, first, last - first);
  for (size_t s = 1; s < sums_.size(); ++s) sum.add_(sums_[s]->gradients.flat.narrow(0, first, last - first));
}

// The last part to come through a block begins the sum over ranks. Blocks end from the last to the first in
// every part, so the sums begin in that order on every rank.
void RetrieverStep::BlockDone(int block) {
  if (--parts_left_[block] > 0) return;
  at::NoGradGuard no_grad;
  const int64_t first = block_starts_[block], last = block_starts_[block + 1];
  AddUpDense(first, last);
  ranks_->BeginSum(FloatsOf(sums_[0]->gradients.flat), first, last - first);
}

}  // namespace waymark
