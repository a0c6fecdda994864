#include "recommend/behaviour_counts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "recommend/pair_rows.h"
#include "recommend/popularity_table.h"
#include "recommend/top_items.h"

namespace waymark {
namespace {

constexpr char kCountsMagic[] = "WMCOUNTS";
constexpr uint32_t kCountsVersion = 2;
constexpr uint32_t kOldestVersion = 2;  // 1 had no first times; older ones are made anew

}  // namespace

class BehaviourCounts::Impl {
 public:
  explicit Impl(const BehaviourCountsOptions& o)
      : options(o), pairs(o.neighbours), popularity(o.popularity_half_life) {
    for (int k = 0; k <= options.window; ++k) distance_weight.push_back(std::pow(options.distance_decay, k));
  }

  // Weight of a pair at distance k; 0 beyond the window.
  double Weight(size_t k) const {
    return k > static_cast<size_t>(options.window) ? 0 : distance_weight[k - 1];
  }
  void AddPair(ItemOrdinal from, ItemOrdinal to, double weight, int transitions) {
    if (from == to || weight == 0) return;
    pairs.Add(from, to, weight, transitions);
    if (options.reverse_weight > 0) pairs.Add(to, from, weight * options.reverse_weight, 0);
  }
  double Scale(ItemOrdinal a, ItemOrdinal b) const {
    return 1 / std::sqrt(std::max(1.0, double{1} * popularity.Count(a) * popularity.Count(b)));
  }
  double TieBreak(ItemOrdinal item) const {
    return popularity.Count(item) / (1.0 + static_cast<double>(popularity.events()));
  }
  double TransitionScore(ItemOrdinal item, uint32_t transitions, uint64_t all) const {
    return (transitions + TieBreak(item)) / static_cast<double>(std::max<uint64_t>(all, 1));
  }
  std::vector<float> CoVisitationSums(const RequestContext& context,
                                      absl::Span<const ItemOrdinal> items) const;

  const BehaviourCountsOptions options;
  std::vector<double> distance_weight;  // [k - 1]
  PairRows pairs;
  PopularityTable popularity;
};

BehaviourCounts::BehaviourCounts(const BehaviourCountsOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
BehaviourCounts::~BehaviourCounts() = default;

void BehaviourCounts::Add(absl::Span<const ItemOrdinal> before, ItemOrdinal item, absl::Time time) {
  AddBetween(before, item, {}, time);
}

void BehaviourCounts::AddBetween(absl::Span<const ItemOrdinal> before, ItemOrdinal item,
                                 absl::Span<const ItemOrdinal> after, absl::Time time) {
  Impl& impl = *impl_;
  const size_t window = static_cast<size_t>(impl.options.window);
  if (before.size() > window) before.remove_prefix(before.size() - window);
  if (after.size() > window) after = after.first(window);
  impl.popularity.Add(item, time);
  // i-th before and j-th after, both from 1, were i + j - 1 apart and are now one further.
  for (size_t i = 1; i <= before.size(); ++i) {
    const ItemOrdinal earlier = before[before.size() - i];
    impl.AddPair(earlier, item, impl.Weight(i), i == 1 ? 1 : 0);
    for (size_t j = 1; j <= after.size() && i + j - 1 <= window; ++j) {
      const bool adjacent = i == 1 && j == 1;
      impl.AddPair(earlier, after[j - 1], impl.Weight(i + j) - impl.Weight(i + j - 1), adjacent ? -1 : 0);
    }
  }
  for (size_t j = 1; j <= after.size(); ++j) impl.AddPair(item, after[j - 1], impl.Weight(j), j == 1 ? 1 : 0);
}

void BehaviourCounts::AddAll(const Interactions& interactions) {
  std::vector<uint64_t> order(interactions.items.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) {
    if (interactions.offsets[a] != interactions.offsets[b])
      return interactions.offsets[a] < interactions.offsets[b];
    return interactions.times_us[a] < interactions.times_us[b];
  });
  for (uint64_t e : order)
    impl_->popularity.Add(interactions.items[e], absl::FromUnixMicros(interactions.times_us[e]));
  const size_t window = static_cast<size_t>(impl_->options.window);
  for (size_t u = 0; u < interactions.user_count(); ++u) {
    const absl::Span<const ItemOrdinal> items = interactions.ItemsOf(u);
    for (size_t at = 1; at < items.size(); ++at) {
      for (size_t k = 1; k <= std::min(window, at); ++k)
        impl_->AddPair(items[at - k], items[at], impl_->Weight(k), k == 1 ? 1 : 0);
    }
  }
}

std::vector<ScoredItem> BehaviourCounts::CoVisited(const RequestContext& context, size_t limit) const {
  absl::flat_hash_map<ItemOrdinal, double> sums;
  std::vector<PairEntry> row;
  uint64_t transitions = 0;
  double weight = 1;
  const auto& history = context.history;
  const size_t asked = std::min(history.size(), static_cast<size_t>(impl_->options.query_items));
  for (size_t age = 0; age < asked; ++age, weight *= impl_->options.query_decay) {
    const ItemOrdinal anchor = history[history.size() - 1 - age].item;
    impl_->pairs.Read(anchor, &row, &transitions);
    for (const PairEntry& entry : row)
      sums[entry.item] += weight * entry.weight * impl_->Scale(anchor, entry.item);
  }
  TopItems top(limit);
  for (const auto& [item, sum] : sums) {
    if (sum >= top.threshold() && context.MayShow(item)) top.Offer(item, static_cast<float>(sum));
  }
  return top.Take();
}

std::vector<ScoredItem> BehaviourCounts::CoVisitedWith(absl::Span<const ItemOrdinal> anchors,
                                                       const RequestContext& context, size_t limit) const {
  absl::flat_hash_map<ItemOrdinal, double> largest;
  std::vector<PairEntry> row;
  uint64_t transitions = 0;
  for (ItemOrdinal anchor : anchors) {
    impl_->pairs.Read(anchor, &row, &transitions);
    for (const PairEntry& entry : row) {
      double& score = largest[entry.item];
      score = std::max(score, entry.weight * impl_->Scale(anchor, entry.item));
    }
  }
  for (ItemOrdinal anchor : anchors) largest.erase(anchor);
  TopItems top(limit);
  for (const auto& [item, score] : largest) {
    if (score >= top.threshold() && context.MayShow(item)) top.Offer(item, static_cast<float>(score));
  }
  return top.Take();
}

std::vector<ScoredItem> BehaviourCounts::Transitions(const RequestContext& context, size_t limit) const {
  TopItems top(limit);
  if (context.history.empty()) return {};
  std::vector<PairEntry> row;
  uint64_t all = 0;
  impl_->pairs.Read(context.history.back().item, &row, &all);
  for (const PairEntry& entry : row) {
    if (entry.transitions == 0 || !context.MayShow(entry.item)) continue;
    top.Offer(entry.item, static_cast<float>(impl_->TransitionScore(entry.item, entry.transitions, all)));
  }
  return top.Take();
}

std::vector<ScoredItem> BehaviourCounts::Popular(const RequestContext& context, size_t limit) const {
  std::vector<ScoredItem> out;
  if (limit == 0) return out;
  const PopularityTable& table = impl_->popularity;
  // A filter may keep only what nobody looks at: after as many steps as it keeps items, its items are looked
  // up instead, so that the work is at most twice the smaller of the two.
  const uint64_t most_steps = context.allowed == nullptr ? ~uint64_t{0} : context.allowed->Size();
  uint64_t steps = 0;
  table.ForEachByPopularity(context.now, [&](ItemOrdinal item, double score) {
    if (steps++ >= most_steps) return false;
    if (context.MayShow(item)) out.push_back({item, static_cast<float>(score)});
    return out.size() < limit;
  });
  if (out.size() < limit && steps > most_steps) {
    TopItems top(limit);
    context.allowed->ForEach([&](ItemOrdinal item) {
      if (table.Count(item) > 0 && context.MayShow(item))
        top.Offer(item, table.LogPopularity(item, context.now));
      return true;
    });
    out = top.Take();
  }
  std::stable_sort(out.begin(), out.end(), BetterItem);
  return out;
}

std::vector<float> BehaviourCounts::Impl::CoVisitationSums(const RequestContext& context,
                                                           absl::Span<const ItemOrdinal> items) const {
  std::vector<float> sums(items.size(), 0);
  std::vector<PairEntry> entries(items.size());
  double weight = 1;
  const auto& history = context.history;
  const size_t asked = std::min(history.size(), static_cast<size_t>(options.query_items));
  for (size_t age = 0; age < asked; ++age, weight *= options.query_decay) {
    const ItemOrdinal anchor = history[history.size() - 1 - age].item;
    pairs.ReadPairs(anchor, items, absl::MakeSpan(entries));
    for (size_t i = 0; i < items.size(); ++i) {
      if (entries[i].weight > 0)
        sums[i] += static_cast<float>(weight * entries[i].weight * Scale(anchor, items[i]));
    }
  }
  return sums;
}

void BehaviourCounts::Fill(const RequestContext& context, absl::Span<Candidate> candidates) const {
  const Impl& impl = *impl_;
  std::vector<ItemOrdinal> items;
  for (Candidate& candidate : candidates) {
    items.push_back(candidate.item);
    SignalValues& signals = candidate.signals;
    Set(signals, Signal::kPopularityScore, impl.popularity.LogPopularity(candidate.item, context.now));
    Set(signals, Signal::kLogCount, std::log1p(static_cast<float>(impl.popularity.Count(candidate.item))));
    Set(signals, Signal::kLogRecentCount, impl.popularity.LogRecent(candidate.item));
  }
  const auto& history = context.history;
  if (history.empty()) return;
  const std::vector<float> sums = impl.CoVisitationSums(context, items);
  std::vector<PairEntry> entries(items.size());
  const ItemOrdinal last = history.back().item;
  uint64_t all = impl.pairs.ReadPairs(last, items, absl::MakeSpan(entries));
  for (size_t i = 0; i < items.size(); ++i) {
    SignalValues& signals = candidates[i].signals;
    Set(signals, Signal::kCovisitationScore, sums[i]);
    Set(signals, Signal::kCovisitationLast,
        static_cast<float>(entries[i].weight * impl.Scale(last, items[i])));
    Set(signals, Signal::kTransitionScore,
        static_cast<float>(impl.TransitionScore(items[i], entries[i].transitions, all)));
  }
  if (history.size() < 2) return;
  const ItemOrdinal second = history[history.size() - 2].item;
  all = impl.pairs.ReadPairs(second, items, absl::MakeSpan(entries));
  for (size_t i = 0; i < items.size(); ++i) {
    SignalValues& signals = candidates[i].signals;
    Set(signals, Signal::kCovisitationSecondLast,
        static_cast<float>(entries[i].weight * impl.Scale(second, items[i])));
    Set(signals, Signal::kTransitionSecondLast,
        static_cast<float>(entries[i].transitions) / static_cast<float>(std::max<uint64_t>(all, 1)));
  }
}

void BehaviourCounts::CoVisitation(absl::Span<const ItemOrdinal> anchors, absl::Span<const ItemOrdinal> items,
                                   absl::Span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0f);
  std::vector<PairEntry> entries(items.size());
  for (ItemOrdinal anchor : anchors) {
    impl_->pairs.ReadPairs(anchor, items, absl::MakeSpan(entries));
    for (size_t i = 0; i < items.size(); ++i) {
      if (entries[i].weight > 0)
        out[i] = std::max(out[i], static_cast<float>(entries[i].weight * impl_->Scale(anchor, items[i])));
    }
  }
}

uint32_t BehaviourCounts::EventCount(ItemOrdinal item) const { return impl_->popularity.Count(item); }
void BehaviourCounts::FirstEvents(absl::Span<const ItemOrdinal> items, absl::Span<absl::Time> times) const {
  for (size_t i = 0; i < items.size(); ++i) times[i] = impl_->popularity.First(items[i]);
}

void BehaviourCounts::Popularities(absl::Span<const ItemOrdinal> items, absl::Time now,
                                   absl::Span<float> out) const {
  for (size_t i = 0; i < items.size(); ++i) {
    const float logarithm = impl_->popularity.LogPopularity(items[i], now);
    out[i] = std::isnan(logarithm) ? 0 : std::exp(logarithm);
  }
}

uint64_t BehaviourCounts::event_count() const { return impl_->popularity.events(); }
const BehaviourCountsOptions& BehaviourCounts::options() const { return impl_->options; }

absl::Status BehaviourCounts::Save(const std::filesystem::path& file, LogOffset position) const {
  auto writer = CheckedWriter::Create(file, kCountsMagic, kCountsVersion);
  if (!writer.ok()) return writer.status();
  (*writer)->Put<uint64_t>(position);
  (*writer)->Put<int32_t>(impl_->options.window);
  (*writer)->Put<double>(impl_->options.distance_decay);
  (*writer)->Put<double>(impl_->options.reverse_weight);
  impl_->popularity.Save(writer->get());
  impl_->pairs.Save(writer->get());
  return (*writer)->Commit();
}

absl::StatusOr<std::unique_ptr<BehaviourCounts>> BehaviourCounts::Open(const std::filesystem::path& file,
                                                                       const BehaviourCountsOptions& options,
                                                                       LogOffset* position) {
  auto reader = CheckedReader::Open(file, kCountsMagic, kCountsVersion);
  if (!reader.ok()) return reader.status();
  if ((*reader)->version() < kOldestVersion) {
    return absl::FailedPreconditionError(absl::StrCat(file.string(), " has format version ",
                                                      (*reader)->version(), ", which has no first times"));
  }
  int32_t window = 0;
  double decay = 0, reverse = 0;
  if (absl::Status s = (*reader)->Get(position); !s.ok()) return s;
  if (absl::Status s = (*reader)->Get(&window); !s.ok()) return s;
  if (absl::Status s = (*reader)->Get(&decay); !s.ok()) return s;
  if (absl::Status s = (*reader)->Get(&reverse); !s.ok()) return s;
  if (window != options.window || decay != options.distance_decay || reverse != options.reverse_weight)
    return absl::FailedPreconditionError("the counts were kept with another window or other weights");
  auto counts = std::make_unique<BehaviourCounts>(options);
  if (absl::Status s = counts->impl_->popularity.Load(reader->get()); !s.ok()) return s;
  if (absl::Status s = counts->impl_->pairs.Load(reader->get()); !s.ok()) return s;
  return counts;
}

}  // namespace waymark
