// What is counted of a field over a set of items: its values, ranges of them, or a histogram.
//
//   auto facet = CheckFacet({.field = "genres", .limit = 5}, schema, "facets[0]");
//   auto counts = CountFacet(*catalog, *facet, allowed.get(), matches.get(), expired);
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "catalog/schema.h"
#include "catalog/time_spans.h"

namespace waymark {

class Catalog;
class ItemSet;

inline constexpr int kDefaultFacetValues = 10, kMostFacetValues = 1000;
inline constexpr size_t kMostFacetRanges = 100;
inline constexpr size_t kMostHistogramBuckets = 1000;
inline constexpr size_t kMostValueQueryBytes = 256;
inline constexpr int kDeepestPaths = 20;
inline constexpr char kPathSeparator[] = " > ";

// As it is asked for.
struct FacetSpec {
  std::string field;
  int limit = 0;  // 0: kDefaultFacetValues
  std::string value_query;
  // [from, to): numbers, or for TIME fields texts; without a kind: open.
  struct Range {
    google::protobuf::Value from, to;
  };
  std::vector<Range> ranges;
  std::optional<double> histogram_interval;
  // Of values that are paths: levels below `prefix` (empty: from the top).
  struct Hierarchy {
    std::string separator;  // empty: kPathSeparator
    std::string prefix;
    int depth = 0;  // 0: 1
  };
  std::optional<Hierarchy> hierarchy;
  struct TimeHistogram {
    TimeUnit unit = TimeUnit::kYear;
    std::string utc_offset;
  };
  std::optional<TimeHistogram> time_histogram;
  bool statistics = false;
};

// Checked against a schema. Immutable; thread-safe.
struct Facet {
  FacetSpec spec;  // with its limit filled in
  Field field;
  struct Range {
    double lowest = 0, highest = 0;  // both ends in it
    std::string filter;              // keeps the same items
  };
  std::vector<Range> ranges;
  absl::TimeZone zone;  // of a time histogram
  bool by_value() const { return ranges.empty() && !spec.histogram_interval && !spec.time_histogram; }
};

struct FacetCounts {
  struct Value {
    std::string value;
    int64_t count = 0;
  };
  struct Range {
    google::protobuf::Value from, to;
    int64_t count = 0;
    std::string filter;
  };
  struct Path {
    std::string path, label;
    int depth = 0;
    int64_t count = 0;
    std::string filter;
    int64_t children = 0;  // paths one level below it
  };
  struct Statistics {
    double min = 0, max = 0, sum = 0;  // times in seconds since 1970
    int64_t values = 0;
    double mean() const { return values == 0 ? 0 : sum / static_cast<double>(values); }
  };
  std::vector<Path> paths;               // those above a path before it, siblings by count, ties by path
  std::optional<Statistics> statistics;  // none: not asked for, or there is no value
  std::vector<Value> values;             // by count, ties by value
  std::vector<Range> ranges;             // as asked for
  std::vector<Range> histogram;          // in order; those that hold something
  int64_t distinct = 0;                  // values that there are to list
  int64_t other = 0;                     // counts of values beyond the limit; items that are in no range
  int64_t missing = 0;                   // items that lack the field
};

// INVALID_ARGUMENT names place and field, what it holds and what it takes: «facets[0].field: 'title' is TEXT;
// ...».
absl::StatusOr<Facet> CheckFacet(FacetSpec spec, const Schema& schema, std::string_view place);

// Over the live items that are in both sets; null: all items. DEADLINE_EXCEEDED: `expired`, which is asked
// every few thousand items, said so. INVALID_ARGUMENT: the histogram has more than kMostHistogramBuckets
// intervals. Thread-safe.
absl::StatusOr<FacetCounts> CountFacet(const Catalog& catalog, const Facet& facet, const ItemSet* allowed,
                                       const ItemSet* matches, absl::FunctionRef<bool()> expired);

// The filter that keeps items whose value of the field is `path`, or lies below it.
std::string PathFilter(const Field& field, std::string_view path, std::string_view separator);

// [from, to) of a field as a closed interval, with the filter that keeps its items. For histogram buckets;
// `from` < `to`, either may be infinite.
Facet::Range HalfOpenRange(const Field& field, double from, double to);

}  // namespace waymark
