#include "training/retriever/dynamic_vocabulary.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace waymark {
namespace {

constexpr int64_t kWithoutRow = -1;  // kNoRow of the item encoder
constexpr int kNumberBits = 30;      // of a number whose bits are a finite float's
constexpr int32_t kLargestNumber = (1 << kNumberBits) - 1;

float BitsOf(int64_t number) { return std::bit_cast<float>(static_cast<int32_t>(number)); }
int32_t NumberIn(float bits) { return std::bit_cast<int32_t>(bits); }

}  // namespace

int64_t VocabularyPolicy::RowsFor(int64_t items) const {
  return max_rows > 0 ? std::min(max_rows, items) : items;
}

DynamicVocabulary::DynamicVocabulary(int64_t items, const VocabularyPolicy& policy)
    : policy_(policy),
      rows_(policy.RowsFor(items)),
      count_(static_cast<size_t>(items), 0),
      last_(static_cast<size_t>(items), 0),
      row_of_(static_cast<size_t>(items), kWithoutRow) {}

DynamicVocabulary::Standing DynamicVocabulary::StandingOf(int64_t item) const {
  const int32_t count = count_[static_cast<size_t>(item)], last = last_[static_cast<size_t>(item)];
  return policy_.evict == EvictionRule::kLeastRecent ? Standing{last, count, item}
                                                     : Standing{count, last, item};
}

void DynamicVocabulary::Push(int64_t item) {
  heap_.push_back(StandingOf(item));
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void DynamicVocabulary::Pop() {
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
  heap_.pop_back();
}

// Standings only grow, so an entry that is up to date and the smallest one is the smallest of all.
DynamicVocabulary::Standing DynamicVocabulary::Last() {
  while (true) {
    const Standing top = heap_.front();
    if (top == StandingOf(top.item)) return top;
    Pop();
    Push(top.item);
  }
}

void DynamicVocabulary::Admit(int64_t item) {
  RowChange change = {used(), item};
  if (used() == rows_) {
    const Standing leaving = Last();
    if (leaving.first >= StandingOf(item).first) return;
    Pop();
    const auto left = static_cast<size_t>(leaving.item);
    change = {row_of_[left], item, leaving.item};
    row_of_[left] = kWithoutRow;
    count_[left] = last_[left] = 0;
    item_of_[static_cast<size_t>(change.row)] = item;
    ++evicted_;
  } else {
    item_of_.push_back(item);
  }
  row_of_[static_cast<size_t>(item)] = change.row;
  Push(item);
  changes_.push_back(change);
}

bool DynamicVocabulary::Give(int64_t item) {
  if (used() == rows_) return false;
  if (row_of_[static_cast<size_t>(item)] == kWithoutRow) {
    row_of_[static_cast<size_t>(item)] = used();
    item_of_.push_back(item);
    Push(item);
  }
  return true;
}

void DynamicVocabulary::BeginEpoch() {
  for (size_t i = 0; i < row_of_.size(); ++i) {
    if (row_of_[i] == kWithoutRow) count_[i] = last_[i] = 0;
  }
}

const std::vector<RowChange>& DynamicVocabulary::See(absl::Span<const int64_t> items, int64_t step) {
  changes_.clear();
  seen_.assign(items.begin(), items.end());
  for (int64_t item : seen_) {
    int32_t& count = count_[static_cast<size_t>(item)];
    count = std::min(count + 1, kLargestNumber);
    last_[static_cast<size_t>(item)] = static_cast<int32_t>(std::min<int64_t>(step, kLargestNumber));
  }
  std::sort(seen_.begin(), seen_.end());
  seen_.erase(std::unique(seen_.begin(), seen_.end()), seen_.end());
  std::erase_if(seen_, [this](int64_t item) {
    const auto i = static_cast<size_t>(item);
    return row_of_[i] != kWithoutRow || count_[i] < policy_.admit_after;
  });
  std::stable_sort(seen_.begin(), seen_.end(), [this](int64_t a, int64_t b) {
    return count_[static_cast<size_t>(a)] > count_[static_cast<size_t>(b)];
  });
  for (int64_t item : seen_) Admit(item);
  return changes_;
}

void DynamicVocabulary::Write(float* state) const {
  for (size_t i = 0; i < row_of_.size(); ++i, state += kStateColumns) {
    state[0] = BitsOf(count_[i]);
    state[1] = BitsOf(last_[i]);
    state[2] = BitsOf(row_of_[i] + 1);
  }
  state[0] = BitsOf(evicted_ & kLargestNumber);
  state[1] = BitsOf(evicted_ >> kNumberBits);
  state[2] = BitsOf(used());
}

absl::Status DynamicVocabulary::Read(const float* state) {
  const float* all = state + items() * kStateColumns;
  const int64_t in_use = NumberIn(all[2]);
  evicted_ = NumberIn(all[0]) + (static_cast<int64_t>(NumberIn(all[1])) << kNumberBits);
  item_of_.assign(static_cast<size_t>(std::clamp<int64_t>(in_use, 0, rows_)), -1);
  heap_.clear();
  int64_t found = 0;
  bool whole = in_use >= 0 && in_use <= rows_;
  for (size_t i = 0; i < row_of_.size(); ++i, state += kStateColumns) {
    count_[i] = NumberIn(state[0]);
    last_[i] = NumberIn(state[1]);
    row_of_[i] = NumberIn(state[2]) - int64_t{1};
    if (row_of_[i] == kWithoutRow) continue;
    const auto row = static_cast<size_t>(row_of_[i]);
    whole = whole && row < item_of_.size() && item_of_[row] < 0;
    if (!whole) break;
    item_of_[row] = static_cast<int64_t>(i);
    Push(static_cast<int64_t>(i));
    ++found;
  }
  if (!whole || found != in_use) {
    return absl::DataLossError("the state of the vocabulary does not say of each row which item has it");
  }
  return absl::OkStatus();
}

}  // namespace waymark
