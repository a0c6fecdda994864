#include "suggest/completion_list.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <tuple>

namespace waymark {
namespace {

// log2 of how many times as much the beginning of a text counts as another word of it.
constexpr double kStartBonus = 2;

}  // namespace

std::string_view CompletionList::beginning(size_t i) const {
  const CompletionEntry e = entry(i);
  return {folded_.data() + at_[i], folded_begin_[e + 1] - 1 - at_[i]};
}

size_t CompletionList::LowerBound(std::string_view folded) const {
  size_t low = 0, high = size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (beginning(middle) < folded) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

CompletionRange CompletionList::BeginningWith(std::string_view folded) const {
  CompletionRange range;
  range.begin = LowerBound(folded);
  size_t low = range.begin, high = size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (beginning(middle).substr(0, folded.size()) <= folded) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  range.end = low;
  return range;
}

double CompletionList::Score(CompletionEntry e, bool start) const {
  return std::log2(1 + static_cast<double>(weights_[e])) + (start ? kStartBonus : 0);
}

CompletionList::Memory CompletionList::memory() const {
  const auto bytes = [](const auto& numbers) { return numbers.capacity() * sizeof(numbers[0]); };
  Memory memory;
  memory.texts = text_.capacity() + bytes(text_begin_);
  memory.folded = folded_.capacity() + bytes(folded_begin_);
  memory.beginnings = bytes(at_) + bytes(entries_);
  for (const std::vector<Node>& level : levels_) memory.trees += bytes(level);
  memory.trees += prefixes_.memory_bytes();
  memory.items = bytes(items_) + bytes(items_begin_) + bytes(weights_);
  return memory;
}

CompletionList::Node CompletionList::Leaf(size_t i) const {
  return starts_text(i) ? Node{entry(i), kNone} : Node{kNone, entry(i)};
}

void CompletionList::MakeTrees() {
  prefixes_ = PrefixTree(size(), [this](size_t i) { return beginning(i); });
  levels_.clear();
  size_t below = size();
  while (below > kFanout) {
    std::vector<Node> level((below + kFanout - 1) / kFanout);
    for (size_t i = 0; i < below; ++i) {
      const Node child = levels_.empty() ? Leaf(i) : levels_.back()[i];
      Node& parent = level[i / kFanout];
      parent.start = std::min(parent.start, child.start);
      parent.inner = std::min(parent.inner, child.inner);
    }
    levels_.push_back(std::move(level));
    below = levels_.back().size();
  }
}

bool BestFirst::Open::operator<(const Open& other) const {
  if (score != other.score) return score < other.score;
  if (start != other.start) return !start;
  if (entry != other.entry) return entry > other.entry;
  // What is one beginning goes before what has to be opened first; then the order of beginnings.
  if (level != other.level) return level > other.level;
  return index > other.index;
}

BestFirst::BestFirst(const CompletionList& list, absl::Span<const CompletionRange> ranges) : list_(list) {
  constexpr size_t kFanout = CompletionList::kFanout;
  for (const CompletionRange& range : ranges) {
    size_t begin = range.begin, end = range.end;
    for (size_t level = 0; begin < end; ++level) {
      const bool top = level == list_.levels_.size();
      while (begin < end && (top || begin % kFanout != 0)) Push(level, begin++);
      while (begin < end && end % kFanout != 0) Push(level, --end);
      begin /= kFanout;
      end /= kFanout;
    }
  }
}

void BestFirst::Push(size_t level, size_t index) {
  const CompletionList::Node node = level == 0 ? list_.Leaf(index) : list_.levels_[level - 1][index];
  Open open{0, node.start, true, static_cast<uint8_t>(level), static_cast<uint32_t>(index)};
  if (node.start != CompletionList::kNone) open.score = list_.Score(node.start, true);
  if (node.inner != CompletionList::kNone) {
    const double inner = list_.Score(node.inner, false);
    if (node.start == CompletionList::kNone || inner > open.score) {
      open.score = inner;
      open.entry = node.inner;
      open.start = false;
    }
  }
  heap_.push_back(open);
  std::push_heap(heap_.begin(), heap_.end());
}

std::optional<size_t> BestFirst::Next() {
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Open open = heap_.back();
    heap_.pop_back();
    if (open.level == 0) return open.index;
    const size_t below =
        open.level == 1 ? list_.size() : list_.levels_[static_cast<size_t>(open.level) - 2].size();
    const size_t first = size_t{open.index} * CompletionList::kFanout;
    for (size_t i = first; i < std::min(first + CompletionList::kFanout, below); ++i) {
      Push(static_cast<size_t>(open.level) - 1, i);
    }
  }
  return std::nullopt;
}

}  // namespace waymark
