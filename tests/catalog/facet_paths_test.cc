// Hierarchies, spans of the calendar and statistics, beside brute force.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "catalog/facet_counter.h"
#include "catalog/filter_evaluator.h"
#include "tests/catalog/items.h"

namespace waymark {
namespace {

using Paths = std::vector<std::string>;

constexpr const char* kGoods = R"({"fields": [
    {"name": "shelf", "type": "KEYWORD", "array": true, "filterable": true},
    {"name": "made", "type": "TIME", "array": true, "filterable": true},
    {"name": "price", "type": "FLOATING", "array": true, "filterable": true}]})";

struct Good {
  Paths shelf;
  std::vector<int64_t> made;  // seconds
  std::vector<double> price;
};

struct Goods {
  explicit Goods(uint32_t seed, int count = 3000)
      : random(seed),
        columns(std::make_shared<const Schema>(*Schema::FromRecord(tests::SchemaRecordOf(kGoods)))) {
    for (int i = 0; i < count; ++i) {
      Good good;
      for (int n = Below(3); n > 0; --n) {
        Paths parts;
        for (int depth = 1 + Below(4); depth > 0; --depth) parts.push_back(absl::StrCat("p", Below(4)));
        good.shelf.push_back(absl::StrJoin(parts, " > "));
      }
      for (int n = Below(3); n > 0; --n) good.made.push_back(-400'000'000 + int64_t{Below(1'000'000)} * 2000);
      for (int n = Below(3); n > 0; --n) good.price.push_back(Below(1000) / 7.0 - 20);
      google::protobuf::Struct fields;
      auto& map = *fields.mutable_fields();
      for (const auto& path : good.shelf) {
        map["shelf"].mutable_list_value()->add_values()->set_string_value(path);
      }
      for (const int64_t made : good.made) {
        map["made"].mutable_list_value()->add_values()->set_string_value(
            absl::FormatTime(absl::FromUnixSeconds(made), absl::UTCTimeZone()));
      }
      for (const double price : good.price) {
        map["price"].mutable_list_value()->add_values()->set_number_value(price);
      }
      storage::ItemChange change;
      change.set_ordinal(static_cast<ItemOrdinal>(i));
      change.set_all(true);
      *change.mutable_record()->mutable_fields() = fields;
      columns.Apply(change);
      goods.push_back(std::move(good));
      if (Below(3) > 0) items.add(static_cast<uint32_t>(i));
    }
  }
  int Below(int end) { return static_cast<int>(random() % static_cast<uint32_t>(end)); }
  FacetCounts Count(FacetSpec spec) const {
    auto facet = CheckFacet(std::move(spec), *columns.schema(), "facets[0]");
    INFO(facet.status());
    REQUIRE(facet.ok());
    auto counts = CountFacet(*facet, items, columns, [] { return false; });
    INFO(counts.status());
    REQUIRE(counts.ok());
    return *counts;
  }
  int64_t Passing(const std::string& text) const {
    auto filter = ParseFilter(text, *columns.schema());
    INFO(filter.status());
    REQUIRE(filter.ok());
    return static_cast<int64_t>((BoundFilter(filter->root, columns).Evaluate() & items).cardinality());
  }

  std::mt19937 random;
  ItemColumns columns;
  std::vector<Good> goods;
  Bitmap items;
};

// Every path above and at a value.
std::set<std::string> Above(const Paths& values) {
  std::set<std::string> all;
  for (const std::string& value : values) {
    std::string path;
    for (const std::string& part : std::vector<std::string>(absl::StrSplit(value, " > "))) {
      path += (path.empty() ? "" : " > ") + part;
      all.insert(path);
    }
  }
  return all;
}

int DepthOf(const std::string& path) {
  return static_cast<int>(std::vector<std::string>(absl::StrSplit(path, " > ")).size());
}

TEST_CASE("every level of paths is counted, each item once a path") {
  const Goods goods(5);
  std::map<std::string, int64_t> expected;
  int64_t missing = 0;
  for (const uint32_t item : goods.items) {
    missing += goods.goods[item].shelf.empty();
    for (const std::string& path : Above(goods.goods[item].shelf)) ++expected[path];
  }
  for (const std::string prefix : {"", "p1", "p2 > p0", "p1 > p1 > p1", "p9"}) {
    for (const int depth : {0, 1, 2, 4}) {
      INFO(prefix << " " << depth);
      FacetSpec spec{.field = "shelf", .limit = 1000};
      spec.hierarchy = {"", prefix, depth};
      const FacetCounts counts = goods.Count(spec);
      const int first = prefix.empty() ? 1 : DepthOf(prefix) + 1, last = first + std::max(1, depth) - 1;
      std::map<std::string, int64_t> wanted;
      for (const auto& [path, count] : expected) {
        const bool below = prefix.empty() || path.rfind(prefix + " > ", 0) == 0;
        if (below && DepthOf(path) >= first && DepthOf(path) <= last) wanted[path] = count;
      }
      CHECK(counts.missing == missing);
      CHECK(counts.distinct == static_cast<int64_t>(wanted.size()));
      REQUIRE(counts.paths.size() == wanted.size());
      for (size_t i = 0; i < counts.paths.size(); ++i) {
        const FacetCounts::Path& path = counts.paths[i];
        CHECK(path.count == wanted.at(path.path));
        CHECK(path.depth == DepthOf(path.path));
        CHECK(path.label == std::vector<std::string>(absl::StrSplit(path.path, " > ")).back());
        if (i < 40) CHECK(goods.Passing(path.filter) == path.count);
        int64_t children = 0;
        for (const auto& [other, count] : expected) {
          children += other.rfind(path.path + " > ", 0) == 0 && DepthOf(other) == path.depth + 1;
        }
        CHECK(path.children == children);
        // A parent stands before its children; siblings by count.
        if (i > 0 && path.depth == counts.paths[i - 1].depth) {
          CHECK(counts.paths[i - 1].count >= path.count);
        } else if (i > 0 && path.depth > counts.paths[i - 1].depth) {
          CHECK(path.path.rfind(counts.paths[i - 1].path + " > ", 0) == 0);
        }
      }
    }
  }
  FacetSpec few{.field = "shelf", .limit = 2};
  few.hierarchy = {"", "", 2};
  CHECK(goods.Count(few).paths.size() == 2 + 2 * 2);
}

// The beginning of the span that holds `seconds`, by the C library's calendar.
std::string SpanOf(int64_t seconds, int unit, int offset_minutes) {
  std::time_t local = seconds + offset_minutes * 60;
  std::tm parts{};
  gmtime_r(&local, &parts);
  if (unit == 2) {  // back to Monday
    local -= ((parts.tm_wday + 6) % 7) * 86400;
    gmtime_r(&local, &parts);
  }
  if (unit < 4) parts.tm_hour = 0;
  if (unit < 2) parts.tm_mday = 1;
  if (unit < 1) parts.tm_mon = 0;
  char text[64];
  std::snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:00:00", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour);
  return text;
}

TEST_CASE("times are counted by spans of the calendar, on any clock") {
  const Goods goods(6, 600);
  for (const auto& [offset, minutes] : {std::pair{"", 0}, {"+02:00", 120}, {"-05:30", -330}, {"Z", 0}}) {
    for (int unit = 0; unit < 5; ++unit) {
      INFO(offset << " unit " << unit);
      std::map<std::string, int64_t> expected;
      for (const uint32_t item : goods.items) {
        std::set<std::string> spans;
        for (const int64_t made : goods.goods[item].made) spans.insert(SpanOf(made, unit, minutes));
        for (const std::string& span : spans) ++expected[span];
      }
      FacetSpec spec{.field = "made"};
      spec.time_histogram = {static_cast<TimeUnit>(unit), offset};
      const FacetCounts counts = goods.Count(spec);
      REQUIRE(counts.histogram.size() == expected.size());
      auto wanted = expected.begin();
      for (size_t i = 0; i < counts.histogram.size(); ++i, ++wanted) {
        const FacetCounts::Range& span = counts.histogram[i];
        REQUIRE(span.from.string_value().substr(0, 19) == wanted->first);
        REQUIRE(span.count == wanted->second);
        if (i % 37 == 0) CHECK(goods.Passing(span.filter) == span.count);
      }
    }
  }
  // Hand-worked: a Sunday belongs to the week of the Monday before it.
  const TimeSpans weeks(TimeUnit::kWeek, absl::UTCTimeZone());
  absl::Time sunday;
  REQUIRE(absl::ParseTime(absl::RFC3339_full, "2026-11-29T23:59:59Z", &sunday, nullptr));
  CHECK(weeks.Text(weeks.Begin(absl::ToUnixMicros(sunday))) == "2026-11-23T00:00:00+00:00");
  CHECK(weeks.Text(weeks.Begin(absl::ToUnixMicros(sunday) + 1'000'000)) == "2026-11-30T00:00:00+00:00");
}

TEST_CASE("statistics are over all values of the items") {
  const Goods goods(7);
  double least = 1e9, greatest = -1e9, sum = 0;
  int64_t values = 0;
  for (const uint32_t item : goods.items) {
    for (const double price :
         std::set<double>(goods.goods[item].price.begin(), goods.goods[item].price.end())) {
      least = std::min(least, price);
      greatest = std::max(greatest, price);
      sum += price;
      ++values;
    }
  }
  FacetSpec spec{.field = "price"};
  spec.statistics = true;
  const FacetCounts counts = goods.Count(spec);
  REQUIRE(counts.statistics.has_value());
  CHECK(counts.statistics->min == least);
  CHECK(counts.statistics->max == greatest);
  CHECK(counts.statistics->values == values);
  CHECK(std::abs(counts.statistics->sum - sum) < 1e-6);
  CHECK(std::abs(counts.statistics->mean() - sum / static_cast<double>(values)) < 1e-9);
  CHECK_FALSE(counts.values.empty());  // beside the values
}

TEST_CASE("what does not go together is refused by name") {
  const Schema schema = *Schema::FromRecord(tests::SchemaRecordOf(kGoods));
  const auto refusal = [&](FacetSpec spec) {
    return std::string(CheckFacet(std::move(spec), schema, "facets[0]").status().message());
  };
  FacetSpec spec{.field = "price"};
  spec.hierarchy.emplace();
  CHECK(refusal(spec) == "facets[0].hierarchy: field 'price' is FLOATING; it goes with KEYWORD fields");
  spec = {.field = "shelf"};
  spec.hierarchy = {"", "", 21};
  CHECK(refusal(spec) == "facets[0].hierarchy.depth: is 21; it takes 1 to 20, or 0 for 1");
  spec = {.field = "price"};
  spec.time_histogram.emplace();
  CHECK(refusal(spec) ==
        "facets[0].time_histogram: field 'price' is FLOATING; it goes with TIME fields (histogram takes "
        "numbers)");
  spec = {.field = "made"};
  spec.time_histogram = {TimeUnit::kDay, "Berlin"};
  CHECK(refusal(spec) ==
        "facets[0].time_histogram.utc_offset: is 'Berlin'; it takes Z, +02:00, -05:30, ... of at most 18 "
        "hours");
  spec = {.field = "shelf"};
  spec.statistics = true;
  CHECK(refusal(spec) ==
        "facets[0].statistics: field 'shelf' is KEYWORD; they go with INTEGER, FLOATING and TIME fields");
}

}  // namespace
}  // namespace waymark
