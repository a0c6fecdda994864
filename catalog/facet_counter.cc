#include "catalog/facet_counter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "catalog/catalog.h"
#include "catalog/facet_paths.h"
#include "catalog/field_value.h"

namespace waymark {
namespace {

using storage::FieldRecord;

constexpr size_t kItemsPerLook = 1 << 14;

absl::Status Late() { return absl::DeadlineExceededError("the deadline passed while values were counted"); }

// Calls visit(item) for all items; false: the deadline came.
template <class Visit>
bool ForEachItem(const Bitmap& items, absl::FunctionRef<bool()> expired, const Visit& visit) {
  size_t since = 0;
  for (const uint32_t item : items) {
    if (++since == kItemsPerLook) {
      since = 0;
      if (expired()) return false;
    }
    visit(item);
  }
  return true;
}

std::string ValueText(FieldType type, double number) {
  if (type == FieldRecord::BOOLEAN) return number != 0 ? "true" : "false";
  if (type != FieldRecord::TIME) return NumberText(number);
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", absl::FromUnixMicros(static_cast<int64_t>(number)),
                          absl::UTCTimeZone());
}

// Whether `folded` holds `query` at the beginning of a word.
bool BeginsWord(std::string_view folded, std::string_view query) {
  for (size_t at = folded.find(query); at != folded.npos; at = folded.find(query, at + 1)) {
    if (at == 0) return true;
    const unsigned char before = folded[at - 1];
    if (before < 0x80 && !absl::ascii_isalnum(before)) return true;
  }
  return false;
}

template <class Value>
using Counted = std::vector<std::pair<int64_t, Value>>;

// Puts the `limit` values of the greatest counts in front, ties by `less`; fills what does not hang on texts.
template <class Value, class Less>
void KeepBest(Counted<Value>* counted, size_t limit, const Less& less, FacetCounts* out) {
  const size_t keep = std::min(limit, counted->size());
  std::partial_sort(counted->begin(), counted->begin() + keep, counted->end(),
                    [&](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : less(a.second, b.second);
                    });
  out->distinct = static_cast<int64_t>(counted->size());
  for (size_t i = keep; i < counted->size(); ++i) out->other += (*counted)[i].first;
  counted->resize(keep);
}

// How often each term occurs; false: the deadline came.
bool CountTerms(const KeywordColumn& column, const Bitmap& items, absl::FunctionRef<bool()> expired,
                Counted<TermNumber>* counted) {
  const size_t terms = column.term_end(), size = items.cardinality();
  // Few terms over many items: a whole bitmap a term, instead of a look at each item.
  if (terms * 256 < size) {
    for (TermNumber term = 0; term < terms; ++term) {
      if (expired()) return false;
      const uint64_t count = column.CountAmong(term, items);
      if (count > 0) counted->emplace_back(static_cast<int64_t>(count), term);
    }
    return true;
  }
  if (size < terms / 16) {
    absl::flat_hash_map<TermNumber, int64_t> counts;
    const auto add = [&](ItemOrdinal item) {
      for (const TermNumber term : column.Terms(item)) ++counts[term];
    };
    if (!ForEachItem(items, expired, add)) return false;
    for (const auto& [term, count] : counts) counted->emplace_back(count, term);
    return true;
  }
  std::vector<uint32_t> counts(terms, 0);
  const auto add = [&](ItemOrdinal item) {
    for (const TermNumber term : column.Terms(item)) ++counts[term];
  };
  if (!ForEachItem(items, expired, add)) return false;
  for (TermNumber term = 0; term < terms; ++term) {
    if (counts[term] > 0) counted->emplace_back(counts[term], term);
  }
  return true;
}

absl::StatusOr<FacetCounts> CountKeywords(const Facet& facet, const Bitmap& items,
                                          const KeywordColumn& column, absl::FunctionRef<bool()> expired) {
  FacetCounts out;
  out.missing = static_cast<int64_t>(items.cardinality() - items.and_cardinality(column.present()));
  if (facet.spec.hierarchy) {
    if (!CountPaths(facet, items, column, expired, &out)) return Late();
    return out;
  }
  Counted<TermNumber> counted;
  if (!CountTerms(column, items, expired, &counted)) return Late();
  if (!facet.spec.value_query.empty()) {
    const std::string query = FoldCase(facet.spec.value_query);
    size_t looked = 0, kept = 0;
    for (const auto& value : counted) {
      if (++looked % 1024 == 0 && expired()) return Late();
      if (BeginsWord(FoldCase(column.TextOf(value.second)), query)) counted[kept++] = value;
    }
    counted.resize(kept);
  }
  const auto less = [&](TermNumber a, TermNumber b) { return column.TextOf(a) < column.TextOf(b); };
  KeepBest(&counted, static_cast<size_t>(facet.spec.limit), less, &out);
  for (const auto& [count, term] : counted) out.values.push_back({column.TextOf(term), count});
  return out;
}

absl::StatusOr<FacetCounts> CountNumbers(const Facet& facet, const Bitmap& items, const NumberColumn& column,
                                         absl::FunctionRef<bool()> expired) {
  FacetCounts out;
  absl::flat_hash_map<double, int64_t> counts;
  absl::InlinedVector<double, 8> held;
  const auto add = [&](ItemOrdinal item) {
    held.clear();
    column.ForEachValue(item, [&](double value) { held.push_back(value); });
    std::sort(held.begin(), held.end());
    for (size_t i = 0; i < held.size(); ++i) {
      if (i == 0 || held[i] != held[i - 1]) ++counts[held[i]];
    }
  };
  if (!ForEachItem(items, expired, add)) return Late();
  Counted<double> counted;
  for (const auto& [value, count] : counts) counted.emplace_back(count, value);
  KeepBest(&counted, static_cast<size_t>(facet.spec.limit), std::less<>(), &out);
  for (const auto& [count, value] : counted) {
    out.values.push_back({ValueText(facet.field.type(), value), count});
  }
  return out;
}

absl::Status CountRanges(const Facet& facet, const Bitmap& items, const NumberColumn& column,
                         absl::FunctionRef<bool()> expired, FacetCounts* out) {
  std::vector<int64_t> counts(facet.ranges.size(), 0);
  int64_t inside = 0;
  // What few items hold is asked item by item; else ranges are bitmaps.
  if (items.cardinality() * 4 < column.ScanCost()) {
    const auto add = [&](ItemOrdinal item) {
      bool any = false;
      for (size_t r = 0; r < counts.size(); ++r) {
        const bool within = column.AnyWithin(item, facet.ranges[r].lowest, facet.ranges[r].highest);
        counts[r] += within;
        any |= within;
      }
      inside += any;
    };
    if (!ForEachItem(items, expired, add)) return Late();
  } else {
    Bitmap any;
    for (size_t r = 0; r < counts.size(); ++r) {
      if (expired()) return Late();
      const Bitmap within = column.Within(facet.ranges[r].lowest, facet.ranges[r].highest);
      counts[r] = static_cast<int64_t>(within.and_cardinality(items));
      any |= within;
    }
    inside = static_cast<int64_t>(any.and_cardinality(items));
  }
  for (size_t r = 0; r < counts.size(); ++r) {
    const FacetSpec::Range& asked = facet.spec.ranges[r];
    out->ranges.push_back({asked.from, asked.to, counts[r], facet.ranges[r].filter});
  }
  out->other = static_cast<int64_t>(items.and_cardinality(column.present())) - inside;
  return absl::OkStatus();
}

// The number of the interval that holds the value: number * interval <= value < (number + 1) * interval, as
// doubles compare.
double IntervalOf(double value, double interval) {
  double number = std::floor(value / interval);
  if (value < number * interval) --number;
  if (value >= (number + 1) * interval) ++number;
  return number;
}

absl::Status CountTimes(const Facet& facet, const Bitmap& items, const NumberColumn& column,
                        absl::FunctionRef<bool()> expired, FacetCounts* out) {
  const TimeSpans spans(facet.spec.time_histogram->unit, facet.zone);
  absl::btree_map<int64_t, int64_t> counts;
  absl::InlinedVector<int64_t, 8> held;
  // Times come near each other mostly: the span of the last one is looked at first.
  int64_t begin = 0, end = 0;
  const auto add = [&](ItemOrdinal item) {
    held.clear();
    column.ForEachValue(item, [&](double value) {
      const auto time = static_cast<int64_t>(value);
      if (time < begin || time >= end) {
        begin = spans.Begin(time);
        end = spans.End(begin);
      }
      held.push_back(begin);
    });
    std::sort(held.begin(), held.end());
    for (size_t i = 0; i < held.size(); ++i) {
      if (i == 0 || held[i] != held[i - 1]) ++counts[held[i]];
    }
  };
  if (!ForEachItem(items, expired, add)) return Late();
  if (counts.size() > kMostHistogramBuckets) {
    return absl::InvalidArgumentError(
        absl::StrCat("time_histogram.unit: makes ", counts.size(), " spans of field '", facet.field.name(),
                     "'; at most ", kMostHistogramBuckets, " are answered: take a longer unit, or filter"));
  }
  for (const auto& [from, count] : counts) {
    FacetCounts::Range& bucket = out->histogram.emplace_back();
    const int64_t to = spans.End(from);
    bucket.from.set_string_value(spans.Text(from));
    bucket.to.set_string_value(spans.Text(to));
    bucket.count = count;
    bucket.filter = HalfOpenRange(facet.field, static_cast<double>(from), static_cast<double>(to)).filter;
  }
  return absl::OkStatus();
}

absl::Status CountStatistics(const Facet& facet, const Bitmap& items, const NumberColumn& column,
                             absl::FunctionRef<bool()> expired, FacetCounts* out) {
  FacetCounts::Statistics found;
  const double unit = facet.field.type() == FieldRecord::TIME ? 1e-6 : 1;
  // Neumaier's summation: what a million prices add up to does not hang on their order.
  double sum = 0, lost = 0;
  const auto add = [&](ItemOrdinal item) {
    column.ForEachValue(item, [&](double held) {
      const double value = held * unit;
      found.min = found.values == 0 ? value : std::min(found.min, value);
      found.max = found.values == 0 ? value : std::max(found.max, value);
      ++found.values;
      const double next = sum + value;
      lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
      sum = next;
    });
  };
  if (!ForEachItem(items, expired, add)) return Late();
  found.sum = sum + lost;
  if (found.values > 0) out->statistics = found;
  return absl::OkStatus();
}

absl::Status CountHistogram(const Facet& facet, const Bitmap& items, const NumberColumn& column,
                            absl::FunctionRef<bool()> expired, FacetCounts* out) {
  const double interval = *facet.spec.histogram_interval;
  absl::flat_hash_map<double, int64_t> counts;
  absl::InlinedVector<double, 8> held;
  const auto add = [&](ItemOrdinal item) {
    held.clear();
    column.ForEachValue(item, [&](double value) { held.push_back(IntervalOf(value, interval)); });
    std::sort(held.begin(), held.end());
    for (size_t i = 0; i < held.size(); ++i) {
      if (i == 0 || held[i] != held[i - 1]) ++counts[held[i]];
    }
  };
  if (!ForEachItem(items, expired, add)) return Late();
  const absl::btree_map<double, int64_t> ordered(counts.begin(), counts.end());
  const bool exact = ordered.empty() || (ordered.begin()->first > -kLargestInteger &&
                                         ordered.rbegin()->first < kLargestInteger - 1);
  if (counts.size() > kMostHistogramBuckets || !exact) {
    return absl::InvalidArgumentError(absl::StrCat("histogram.interval: is ", interval, ", which makes ",
                                                   counts.size(), " intervals of field '", facet.field.name(),
                                                   "'; at most ", kMostHistogramBuckets,
                                                   " are answered, numbered up to 2^53: take a larger one"));
  }
  for (const auto& [number, count] : ordered) {
    FacetCounts::Range& bucket = out->histogram.emplace_back();
    bucket.from.set_number_value(number * interval);
    bucket.to.set_number_value((number + 1) * interval);
    bucket.count = count;
    bucket.filter = HalfOpenRange(facet.field, number * interval, (number + 1) * interval).filter;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FacetCounts> CountFacet(const Facet& facet, const Bitmap& items, const ItemColumns& columns,
                                       absl::FunctionRef<bool()> expired) {
  if (const KeywordColumn* keywords = columns.FindKeywords(facet.field.name())) {
    if (facet.field.type() == FieldRecord::KEYWORD) return CountKeywords(facet, items, *keywords, expired);
  }
  FacetCounts out;
  const NumberColumn* numbers = columns.FindNumbers(facet.field.name());
  if (numbers == nullptr || facet.field.type() == FieldRecord::KEYWORD) {
    // The schema has changed since the facet was checked.
    out.missing = static_cast<int64_t>(items.cardinality());
    return out;
  }
  if (facet.by_value()) {
    auto counted = CountNumbers(facet, items, *numbers, expired);
    if (!counted.ok()) return counted;
    out = *std::move(counted);
  }
  if (!facet.ranges.empty()) {
    if (auto status = CountRanges(facet, items, *numbers, expired, &out); !status.ok()) return status;
  }
  if (facet.spec.histogram_interval) {
    if (auto status = CountHistogram(facet, items, *numbers, expired, &out); !status.ok()) return status;
  }
  if (facet.spec.time_histogram) {
    if (auto status = CountTimes(facet, items, *numbers, expired, &out); !status.ok()) return status;
  }
  if (facet.spec.statistics) {
    if (auto status = CountStatistics(facet, items, *numbers, expired, &out); !status.ok()) return status;
  }
  out.missing = static_cast<int64_t>(items.cardinality() - items.and_cardinality(numbers->present()));
  return out;
}

absl::StatusOr<FacetCounts> CountFacet(const Catalog& catalog, const Facet& facet, const ItemSet* allowed,
                                       const ItemSet* matches, absl::FunctionRef<bool()> expired) {
  absl::StatusOr<FacetCounts> counts;
  catalog.Read([&](const ItemColumns& columns) {
    Bitmap items = columns.rows().live;
    for (const ItemSet* set : {allowed, matches}) {
      if (set != nullptr) items &= set->impl().bits;
    }
    counts = CountFacet(facet, items, columns, expired);
  });
  return counts;
}

}  // namespace waymark
