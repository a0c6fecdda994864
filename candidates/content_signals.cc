#include "candidates/content_signals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/container/flat_hash_map.h"

namespace waymark {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr size_t kAffinityRecent = 5, kTitleRecent = 10, kYearRecent = 20;

using Hashes = std::vector<std::vector<uint64_t>>;

template <typename T>
absl::Span<const T> Last(absl::Span<const T> all, size_t count) {
  return all.last(std::min(count, all.size()));
}

class CategoryMass {
 public:
  explicit CategoryMass(absl::Span<const std::vector<uint64_t>> history) {
    for (const std::vector<uint64_t>& categories : history) {
      for (const uint64_t category : categories) ++mass_[category];
      total_ += static_cast<float>(categories.size());
    }
  }
  float Share(const std::vector<uint64_t>& categories) const {
    if (total_ == 0 || categories.empty()) return kMissing;
    float held = 0;
    for (const uint64_t category : categories) {
      const auto found = mass_.find(category);
      if (found != mass_.end()) held += found->second;
    }
    return held / total_;
  }

 private:
  absl::flat_hash_map<uint64_t, float> mass_;
  float total_ = 0;
};

// Of two sorted lists without doubles.
float Jaccard(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  size_t both = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) ++both;
    const uint64_t x = *i, y = *j;
    if (x <= y) ++i;
    if (y <= x) ++j;
  }
  return static_cast<float>(both) / static_cast<float>(a.size() + b.size() - both);
}

float LargestOverlap(const std::vector<uint64_t>& words, absl::Span<const std::vector<uint64_t>> history) {
  float largest = kMissing;
  if (words.empty()) return largest;
  for (const std::vector<uint64_t>& other : history) {
    if (!other.empty()) largest = std::fmax(largest, Jaccard(words, other));
  }
  return largest;
}

float Median(absl::Span<const float> years) {
  std::vector<float> known;
  std::copy_if(years.begin(), years.end(), std::back_inserter(known), [](float y) { return !std::isnan(y); });
  if (known.empty()) return kMissing;
  std::sort(known.begin(), known.end());
  const size_t middle = known.size() / 2;
  return known.size() % 2 == 1 ? known[middle] : (known[middle - 1] + known[middle]) / 2;
}

}  // namespace

void ContentSignals::Fill(const RequestContext& context, absl::Span<Candidate> candidates) const {
  if (candidates.empty()) return;
  // One read of the catalogue for both: the candidates first, the history behind them.
  const size_t count = candidates.size();
  std::vector<ItemOrdinal> items;
  for (const Candidate& candidate : candidates) items.push_back(candidate.item);
  for (const HistoryEvent& event : context.history) items.push_back(event.item);
  Hashes words, categories;
  catalog_->ReadContent(items, &words, &categories);
  std::vector<float> years(items.size());
  catalog_->ReadYears(items, absl::MakeSpan(years));

  const auto history = absl::MakeConstSpan(categories).subspan(count);
  const CategoryMass all(history), recent(Last(history, kAffinityRecent));
  const auto recent_titles = Last(absl::MakeConstSpan(words).subspan(count), kTitleRecent);
  const float median = Median(Last(absl::MakeConstSpan(years).subspan(count), kYearRecent));
  for (size_t i = 0; i < count; ++i) {
    SignalValues& signals = candidates[i].signals;
    Set(signals, Signal::kCategoryAffinity, all.Share(categories[i]));
    Set(signals, Signal::kCategoryAffinityLast5, recent.Share(categories[i]));
    Set(signals, Signal::kTitleOverlap, LargestOverlap(words[i], recent_titles));
    Set(signals, Signal::kYear, years[i]);
    Set(signals, Signal::kYearDistance, std::abs(years[i] - median));
  }
  FillAges(context.now, absl::MakeConstSpan(items).first(count), candidates);
}

void ContentSignals::FillAges(absl::Time now, absl::Span<const ItemOrdinal> items,
                              absl::Span<Candidate> candidates) const {
  std::vector<absl::Time> written(items.size()), named(items.size(), absl::InfiniteFuture());
  catalog_->ReadCreateTimes(items, absl::MakeSpan(written));
  if (first_events_) first_events_(items, absl::MakeSpan(named));
  for (size_t i = 0; i < items.size(); ++i) {
    const absl::Time first = std::min(written[i], named[i]);
    float age = kMissing;
    if (first != absl::InfiniteFuture()) {
      const double days = absl::ToDoubleSeconds(now - first) / 86400.0;
      age = static_cast<float>(std::log1p(std::max(0.0, days)));
    }
    Set(candidates[i].signals, Signal::kItemAge, age);
  }
}

}  // namespace waymark
