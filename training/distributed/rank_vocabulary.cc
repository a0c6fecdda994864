#include "training/distributed/rank_vocabulary.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "training/lap.h"

namespace waymark {
namespace {

// Steps whose items ranks exchange at once: two exchanges for so many, of a few hundred KB.
constexpr int64_t kStepsAtOnce = 16;

void AppendRead(const EpochData& epoch, const std::vector<int64_t>& rows, int64_t batch,
                std::vector<int64_t>* read) {
  const std::vector<uint64_t>& starts = epoch.events.starts;
  for (const auto& of_part : epoch.windows) {
    for (const TrainingWindow& window : of_part[batch]) {
      const bool begins = std::binary_search(starts.begin(), starts.end(), window.first);
      const auto first = rows.begin() + static_cast<int64_t>(window.first);
      read->insert(read->end(), first + (begins ? 0 : 1), first + window.length + 1);
    }
  }
}

at::Tensor EmptyState(int64_t items) {
  return at::zeros({items + 1, DynamicVocabulary::kStateColumns}, at::kFloat);
}

}  // namespace

RankVocabulary::RankVocabulary(int64_t items, const VocabularyPolicy& policy, uint64_t seed, RankGroup* group)
    : vocabulary_(items, policy), seed_(seed), group_(group), state_(EmptyState(items)) {}

void RankVocabulary::Give(const std::vector<std::string>& of_package, const std::vector<std::string>& all) {
  absl::flat_hash_map<std::string_view, int64_t> item_of;
  for (size_t i = 0; i < all.size(); ++i) item_of[all[i]] = static_cast<int64_t>(i);
  for (const std::string& id : of_package) {
    const auto found = item_of.find(id);
    if (found != item_of.end() && !vocabulary_.Give(found->second)) return;
  }
}

void RankVocabulary::TakeEpoch(const EpochData* epoch, const std::vector<int64_t>* rows, int64_t batch) {
  epoch_ = epoch;
  rows_ = rows;
  read_.clear();
  if (batch == 0) vocabulary_.BeginEpoch();
}

void RankVocabulary::ReadAhead(int64_t batch) {
  Lap lap;
  const int64_t batches = static_cast<int64_t>(epoch_->tokens.size()),
                steps = std::min(kStepsAtOnce, batches - batch);
  first_ = batch;
  read_.assign(steps, {});
  std::vector<int64_t> own, counts(steps);
  for (int64_t s = 0; s < steps; ++s) {
    const size_t before = own.size();
    AppendRead(*epoch_, *rows_, batch + s, &own);
    counts[s] = static_cast<int64_t>(own.size() - before);
  }
  times_.data += lap(&times_.own_cpu);
  at::Tensor all_counts = at::from_blob(counts.data(), {1, steps}, at::kLong);
  std::vector<at::Tensor> all = {at::from_blob(own.data(), {static_cast<int64_t>(own.size()), 1}, at::kLong)};
  if (group_->size() > 1) {
    all_counts = group_->Gather(all_counts.view({steps})).contiguous();
    std::vector<int64_t> of_ranks;
    for (int r = 0; r < group_->size(); ++r) {
      const int64_t* of_rank = all_counts.data_ptr<int64_t>() + r * steps;
      of_ranks.push_back(std::accumulate(of_rank, of_rank + steps, int64_t{0}));
    }
    all = group_->GatherRows(all[0], of_ranks);
    times_.communication += lap();
  }
  for (size_t r = 0; r < all.size(); ++r) {
    const at::Tensor items = all[r].contiguous();
    const int64_t* next = items.data_ptr<int64_t>();
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t count = all_counts.data_ptr<int64_t>()[static_cast<int64_t>(r) * steps + s];
      read_[s].insert(read_[s].end(), next, next + count);
      next += count;
    }
  }
  times_.data += lap(&times_.own_cpu);
}

void RankVocabulary::BeforeStep(int64_t batch, int64_t step, RetrieverModel* model) {
  at::NoGradGuard no_grad;
  if (batch < first_ || batch >= first_ + static_cast<int64_t>(read_.size())) ReadAhead(batch);
  Lap lap;
  for (const RowChange& change : vocabulary_.See(read_[batch - first_], step)) {
    model->BeginRow(change.row, change.item, seed_);
  }
  times_.data += lap(&times_.own_cpu);
}

void RankVocabulary::KeepBest() {
  if (!best_.defined()) best_ = at::empty_like(state_);
  vocabulary_.Write(best_.data_ptr<float>());
}

absl::Status RankVocabulary::TakeBest() {
  const VocabularyUse last = Use();
  admitted_ = last.admitted;
  evicted_ = last.evicted;
  return vocabulary_.Read(best_.data_ptr<float>());
}

VocabularyUse RankVocabulary::Use() const {
  const DynamicVocabulary& v = vocabulary_;
  return {v.items(), v.rows(), v.used(), std::max(admitted_, v.admitted()), std::max(evicted_, v.evicted())};
}

std::vector<CheckpointTensor> RankVocabulary::Tensors(std::optional<RowShare> written) {
  const std::vector<int64_t> shape = state_.sizes().vec();
  std::vector<CheckpointTensor> tensors = {{"vocabulary", &state_, shape, {}},
                                           {"best.vocabulary", &best_, shape, {}}};
  for (CheckpointTensor& t : tensors) t.written = written;
  return tensors;
}

void RankVocabulary::Save() { vocabulary_.Write(state_.data_ptr<float>()); }

absl::Status RankVocabulary::Load() { return vocabulary_.Read(state_.data_ptr<float>()); }

}  // namespace waymark
