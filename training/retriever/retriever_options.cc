#include "training/retriever/retriever_options.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr double kFinalRate = 0.02;  // of the learning rate, where the linear decay ends
constexpr double kDenseHistory = 30;
constexpr size_t kFullSoftmaxItems = 4096;

absl::Status InRange(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the option '", name, "' is ", value, "; it takes ", low, " to ", high));
}

}  // namespace

absl::Status RetrieverOptions::Check() const {
  absl::Status status = shape.Check();
  status.Update(InRange("negatives", negatives, 1, 1 << 20));
  status.Update(InRange("epochs", epochs, 1, 10000));
  status.Update(InRange("patience", patience, 1, 10000));
  status.Update(InRange("validation_users", validation_users, 1, 1e9));
  status.Update(InRange("learning_rate", learning_rate, 1e-7, 1));
  status.Update(InRange("warmup_steps", warmup_steps, 0, 1e6));
  status.Update(InRange("clip", clip, 1e-3, 1e6));
  status.Update(InRange("batch_tokens", batch_tokens, 1, 1 << 22));
  status.Update(InRange("shards", shards, 1, 1024));
  status.Update(InRange("dropout", dropout, 0, 0.95));
  status.Update(InRange("id_dropout", id_dropout, 0, 0.95));
  status.Update(InRange("threads", threads, 1, 1024));
  // Masks number a batch's floats by 32 bits.
  const double widest = std::max(shape.width, shape.hidden);
  status.Update(InRange("batch_tokens * width", (batch_tokens + shape.history_limit) * widest, 1, 1u << 31));
  if (time_budget <= absl::ZeroDuration()) {
    status.Update(absl::InvalidArgumentError("the option 'time_budget' must be longer than nothing"));
  }
  return status;
}

double RetrieverOptions::LearningRate(int64_t step, double done) const {
  const double warm = std::min(1.0, static_cast<double>(step) / std::max(warmup_steps, 1));
  return learning_rate * warm * (1 - std::min(done, 1.0) * (1 - kFinalRate));
}

RetrieverOptions RetrieverOptionsFor(const Interactions& interactions) {
  RetrieverOptions options;
  const size_t users = std::max<size_t>(interactions.user_count(), 1);
  if (static_cast<double>(interactions.items.size()) / static_cast<double>(users) >= kDenseHistory) {
    options.shape.history_limit = 100;
    options.shape.temperature = 0.1;
    options.learning_rate = 2e-3;
    options.dropout = 0.3;
  }
  const absl::flat_hash_set<ItemOrdinal> distinct(interactions.items.begin(), interactions.items.end());
  if (distinct.size() <= kFullSoftmaxItems) options.negatives = kFullSoftmaxItems;
  return options;
}

}  // namespace waymark
