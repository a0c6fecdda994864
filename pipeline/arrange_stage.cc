#include "pipeline/arrange_stage.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace waymark {
namespace {

// |a and b| / |a or b| of two sorted lists; 0 when both are empty.
double Jaccard(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  size_t i = 0, j = 0, both = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j]) {
      ++both, ++i, ++j;
    } else if (a[i] < b[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  const size_t either = a.size() + b.size() - both;
  return either == 0 ? 0.0 : static_cast<double>(both) / either;
}

}  // namespace

std::vector<size_t> Diversify(absl::Span<const ArrangeItem> items, double diversity, size_t depth) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  depth = std::min(depth, items.size());
  if (diversity <= 0 || depth < 3) return order;

  std::vector<std::vector<uint64_t>> categories(depth);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (size_t i = 0; i < depth; ++i) {
    categories[i] = items[i].categories;
    std::sort(categories[i].begin(), categories[i].end());
    low = std::min(low, items[i].score);
    high = std::max(high, items[i].score);
  }
  const double range = high > low ? high - low : 1.0;
  std::vector<double> overlap(depth, 0.0);  // with the items chosen so far
  std::vector<bool> chosen(depth, false);
  for (size_t place = 0; place < depth; ++place) {
    size_t best = depth;
    double best_value = -std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < depth; ++i) {
      if (chosen[i]) continue;
      const double value = (1 - diversity) * (items[i].score - low) / range - diversity * overlap[i];
      if (value > best_value) best = i, best_value = value;
    }
    chosen[best] = true;
    order[place] = best;
    for (size_t i = 0; i < depth; ++i) {
      if (!chosen[i]) overlap[i] = std::max(overlap[i], Jaccard(categories[i], categories[best]));
    }
  }
  return order;
}

PinnedOrder PutPins(absl::Span<const size_t> order, absl::Span<const Pin> pins) {
  std::map<size_t, size_t> at;  // place -> index
  std::set<size_t> pinned;
  for (const Pin& pin : pins) {
    if (!pinned.insert(pin.index).second) continue;
    size_t place = pin.place;
    while (at.contains(place)) ++place;
    at.emplace(place, pin.index);
  }
  PinnedOrder out;
  auto next = at.begin();
  const auto put = [&] {
    out.pinned.push_back(static_cast<uint32_t>(out.order.size()));
    out.order.push_back((next++)->second);
  };
  for (const size_t index : order) {
    if (pinned.contains(index)) continue;
    while (next != at.end() && next->first == out.order.size()) put();
    out.order.push_back(index);
  }
  while (next != at.end()) put();
  return out;
}

std::vector<double> BoostedScores(absl::Span<const double> scores, absl::Span<const double> factors) {
  double base = 0;
  for (const double score : scores) base = std::min(base, score);
  std::vector<double> boosted;
  for (size_t i = 0; i < scores.size(); ++i) boosted.push_back(base + (scores[i] - base) * factors[i]);
  return boosted;
}

Page TakePage(size_t size, size_t next, size_t page_size, const std::function<bool(size_t)>& visible) {
  Page page;
  size_t i = next;
  for (; i < size && page.indexes.size() < page_size; ++i) {
    if (visible(i)) page.indexes.push_back(i);
  }
  page.next = i;
  return page;
}

}  // namespace waymark
