#include "experiment/shadow/agreement.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace waymark {

double OverlapAtTen(absl::Span<const ItemOrdinal> a, absl::Span<const ItemOrdinal> b) {
  a = a.first(std::min(a.size(), kOverlapDepth));
  b = b.first(std::min(b.size(), kOverlapDepth));
  const size_t shorter = std::min(a.size(), b.size());
  if (shorter == 0) return a.size() == b.size() ? 1 : 0;
  const auto shared = std::count_if(
      a.begin(), a.end(), [&](ItemOrdinal item) { return std::find(b.begin(), b.end(), item) != b.end(); });
  return static_cast<double>(shared) / static_cast<double>(shorter);
}

std::optional<double> RankCorrelation(absl::Span<const ItemOrdinal> a, absl::Span<const ItemOrdinal> b) {
  absl::flat_hash_map<ItemOrdinal, size_t> place;
  for (size_t i = 0; i < b.size(); ++i) place.emplace(b[i], i);
  std::vector<size_t> order;  // places in b of the shared items, as a has them
  for (const ItemOrdinal item : a) {
    if (const auto found = place.find(item); found != place.end()) order.push_back(found->second);
  }
  if (order.size() < 2) return std::nullopt;
  double agreeing = 0, pairs = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = i + 1; j < order.size(); ++j, ++pairs) agreeing += order[i] < order[j] ? 1 : -1;
  }
  return agreeing / pairs;
}

void AddCopy(const ShadowAnswer& served, const ShadowAnswer& copy, ShadowSums* sums) {
  AddAnswer(copy.measured, &sums->copies);
  if (copy.measured.error) return;
  sums->overlap_sum += OverlapAtTen(served.items, copy.items);
  const std::optional<double> tau = RankCorrelation(served.items, copy.items);
  if (!tau) return;
  sums->tau_sum += *tau;
  ++sums->correlated;
}

storage::ShadowSumsRecord RecordOf(const ShadowSums& sums) {
  storage::ShadowSumsRecord record;
  *record.mutable_copies() = sums.copies;
  record.set_overlap_sum(sums.overlap_sum);
  record.set_tau_sum(sums.tau_sum);
  record.set_correlated(sums.correlated);
  record.set_skipped(sums.skipped);
  return record;
}

ShadowSums SumsOf(const storage::ShadowSumsRecord& record) {
  return {.copies = record.copies(),
          .overlap_sum = record.overlap_sum(),
          .tau_sum = record.tau_sum(),
          .correlated = record.correlated(),
          .skipped = record.skipped()};
}

}  // namespace waymark
