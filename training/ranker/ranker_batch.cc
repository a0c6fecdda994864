#include "training/ranker/ranker_batch.h"

#include <algorithm>
#include <cmath>

namespace waymark {

int64_t RankerBatcher::Places::Of(size_t key) {
  if (place_[key] < 0) {
    place_[key] = static_cast<int64_t>(keys_.size());
    keys_.push_back(static_cast<int64_t>(key));
  }
  return place_[key];
}

void RankerBatcher::Places::Clear() {
  for (int64_t key : keys_) place_[static_cast<size_t>(key)] = -1;
  keys_.clear();
}

RankerBatcher::RankerBatcher(const RankerConfig& config, const RankerItems* items)
    : config_(config),
      items_(items),
      item_places_(items->size()),
      bucket_places_(static_cast<size_t>(config.content_buckets)),
      word_places_(static_cast<size_t>(config.query_buckets)) {}

RankerBatch RankerBatcher::Make(const RankingLists& lists, absl::Span<const size_t> chosen) {
  item_places_.Clear();
  bucket_places_.Clear();
  word_places_.Clear();
  size_t n = 1, length = 0, words = 0;
  const auto history_limit = static_cast<size_t>(config_.history);
  const size_t word_limit = config_.query_buckets > 0 ? static_cast<size_t>(config_.query_words) : 0;
  for (size_t i : chosen) {
    n = std::max(n, lists[i].candidates.size());
    length = std::max(length, std::min(lists[i].history.size(), history_limit));
    words = std::max(words, std::min(lists[i].query.size(), word_limit));
  }
  const auto rows = static_cast<int64_t>(chosen.size()), columns = static_cast<int64_t>(n);
  const auto long_history = static_cast<int64_t>(length), long_words = static_cast<int64_t>(words);
  RankerBatch b;
  b.features = torch::zeros({rows, columns, config_.features});
  b.gains = torch::zeros({rows, columns});
  b.valid = torch::zeros({rows, columns}, torch::kBool);
  b.candidates = torch::zeros({rows, columns}, torch::kLong);
  b.history = torch::zeros({rows, long_history}, torch::kLong);
  b.types = torch::zeros({rows, long_history}, torch::kLong);
  b.history_valid = torch::zeros({rows, long_history}, torch::kBool);
  b.words = torch::zeros({rows, long_words}, torch::kLong);
  b.words_valid = torch::zeros({rows, long_words}, torch::kBool);
  for (size_t r = 0; r < chosen.size(); ++r) {
    const RankingList list = lists[chosen[r]];
    std::copy(list.features.begin(), list.features.end(),
              b.features.data_ptr<float>() + r * n * static_cast<size_t>(config_.features));
    float total = 0;
    for (float gain : list.gains) total += gain;
    for (size_t c = 0; c < list.candidates.size(); ++c) {
      b.gains.data_ptr<float>()[r * n + c] = list.gains[c] / total;
      b.valid.data_ptr<bool>()[r * n + c] = true;
      b.candidates.data_ptr<int64_t>()[r * n + c] = item_places_.Of(items_->Number(list.candidates[c]));
    }
    for (size_t h = 0; h < std::min(list.history.size(), history_limit); ++h) {
      b.history.data_ptr<int64_t>()[r * length + h] = item_places_.Of(items_->Number(list.history[h]));
      b.types.data_ptr<int64_t>()[r * length + h] = EventTypeSlot(list.types[h], config_.event_types);
      b.history_valid.data_ptr<bool>()[r * length + h] = true;
    }
    for (size_t w = 0; w < std::min(list.query.size(), word_limit); ++w) {
      b.words.data_ptr<int64_t>()[r * words + w] =
          word_places_.Of(list.query[w] % static_cast<uint64_t>(config_.query_buckets));
      b.words_valid.data_ptr<bool>()[r * words + w] = true;
    }
  }
  FillContent(&b);
  b.word_rows = torch::tensor(word_places_.keys(), torch::kLong);
  return b;
}

void RankerBatcher::FillContent(RankerBatch* b) {
  std::vector<int64_t> vocabulary_rows, vocabulary_items, bag, starts;
  std::vector<float> scale;
  const std::vector<int64_t>& numbers = item_places_.keys();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto number = static_cast<uint32_t>(numbers[i]);
    if (const int64_t row = items_->VocabularyRow(number); row >= 0) {
      vocabulary_rows.push_back(row);
      vocabulary_items.push_back(static_cast<int64_t>(i));
    }
    const auto buckets = items_->ContentBuckets(number);
    starts.push_back(static_cast<int64_t>(bag.size()));
    scale.push_back(buckets.empty() ? 0.f : 1 / std::sqrt(static_cast<float>(buckets.size())));
    for (int64_t bucket : buckets) bag.push_back(bucket_places_.Of(static_cast<size_t>(bucket)));
  }
  b->items = static_cast<int64_t>(numbers.size());
  b->vocabulary_rows = torch::tensor(vocabulary_rows, torch::kLong);
  b->vocabulary_items = torch::tensor(vocabulary_items, torch::kLong);
  b->content_rows = torch::tensor(bucket_places_.keys(), torch::kLong);
  b->bag = torch::tensor(bag, torch::kLong);
  b->bag_starts = torch::tensor(starts, torch::kLong);
  b->bag_scale = torch::tensor(scale).view({-1, 1});
}

}  // namespace waymark
