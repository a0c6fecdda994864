#include <algorithm>
#include <map>
#include <set>

#include "catalog/facet_counter.h"
#include "catalog/filter_evaluator.h"
#include "catalog/filter_parts.h"
#include "tests/catalog/items.h"
#include "tests/catalog/random_rows.h"

namespace waymark {
namespace {

using tests::RandomRows;
using tests::Row;

bool Never() { return false; }

std::shared_ptr<const Schema> RandomSchema() {
  return std::make_shared<const Schema>(*Schema::FromRecord(tests::SchemaRecordOf(RandomRows::kSchema)));
}

google::protobuf::Value Number(double number) {
  google::protobuf::Value value;
  value.set_number_value(number);
  return value;
}
google::protobuf::Value Text(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  return value;
}

Facet Checked(FacetSpec spec, const Schema& schema) {
  auto facet = CheckFacet(std::move(spec), schema, "facets[0]");
  INFO(facet.status().ToString());
  REQUIRE(facet.ok());
  return *facet;
}

std::string Refusal(FacetSpec spec, const Schema& schema) {
  return std::string(CheckFacet(std::move(spec), schema, "facets[3]").status().message());
}

std::vector<std::pair<std::string, int64_t>> ValuesOf(const FacetCounts& counts) {
  std::vector<std::pair<std::string, int64_t>> values;
  for (const auto& value : counts.values) values.emplace_back(value.value, value.count);
  return values;
}

// Rows with the set of them that is counted over.
struct Corpus {
  Corpus(int count, int one_in, uint32_t seed) : random(seed), columns(RandomSchema()) {
    for (int i = 0; i < count; ++i) {
      rows.push_back(random.MakeRow());
      storage::ItemChange change;
      change.set_ordinal(static_cast<ItemOrdinal>(i));
      change.set_all(true);
      change.mutable_record()->set_deleted(!rows.back().live);
      if (rows.back().live) *change.mutable_record()->mutable_fields() = RandomRows::FieldsOf(rows.back());
      columns.Apply(change);
      if (rows.back().live && random.Below(one_in) == 0) {
        items.add(static_cast<uint32_t>(i));
        counted.push_back(&rows.back());
      }
    }
    counted.clear();
    for (const uint32_t item : items) counted.push_back(&rows[item]);
  }
  RandomRows random;
  ItemColumns columns;
  std::vector<Row> rows;
  std::vector<const Row*> counted;
  Bitmap items;
};

// What a field counts to, by maps; values as text.
using ValuesOfRow = std::function<std::set<std::string>(const Row&)>;
void CheckValues(const Corpus& corpus, const std::string& field, int limit, const ValuesOfRow& values_of) {
  std::map<std::string, int64_t> counts;
  int64_t missing = 0;
  for (const Row* row : corpus.counted) {
    const auto values = values_of(*row);
    missing += values.empty();
    for (const std::string& value : values) ++counts[value];
  }
  const auto out = CountFacet(Checked({.field = field, .limit = limit}, *corpus.columns.schema()),
                              corpus.items, corpus.columns, Never);
  REQUIRE(out.ok());
  INFO(field << " of " << corpus.counted.size());
  CHECK(out->missing == missing);
  CHECK(out->distinct == static_cast<int64_t>(counts.size()));
  REQUIRE(out->values.size() == std::min<size_t>(counts.size(), static_cast<size_t>(limit)));
  int64_t all = 0, listed = 0;
  for (const auto& [value, count] : counts) all += count;
  for (size_t i = 0; i < out->values.size(); ++i) {
    CHECK(out->values[i].count == counts.at(out->values[i].value));
    listed += out->values[i].count;
    if (i > 0) CHECK(out->values[i - 1].count >= out->values[i].count);
  }
  CHECK(out->other == all - listed);
  // Nothing that was left out counts more than the last of the list.
  std::set<std::string> shown;
  for (const auto& value : out->values) shown.insert(value.value);
  for (const auto& [value, count] : counts) {
    if (shown.count(value) == 0) CHECK(count <= out->values.back().count);
  }
}

std::string Plain(double number) {
  std::string text = std::to_string(number);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

TEST_CASE("Values are counted as a brute-force walk counts them, whatever the shape of the set") {
  // Few terms over many items, as many terms as items, few items among many terms.
  for (const auto& [count, one_in] : {std::pair{1, 1}, {60, 2}, {12000, 1}, {12000, 3}, {12000, 900}}) {
    const Corpus corpus(count, one_in, static_cast<uint32_t>(count + one_in));
    CheckValues(corpus, "genres", 4,
                [](const Row& row) { return std::set<std::string>(row.genres.begin(), row.genres.end()); });
    CheckValues(corpus, "brand", 25, [](const Row& row) {
      return row.brand ? std::set<std::string>{*row.brand} : std::set<std::string>();
    });
    CheckValues(corpus, "year", 10, [](const Row& row) {
      return row.year ? std::set<std::string>{std::to_string(*row.year)} : std::set<std::string>();
    });
    CheckValues(corpus, "in_stock", 2, [](const Row& row) {
      return row.in_stock ? std::set<std::string>{*row.in_stock ? "true" : "false"} : std::set<std::string>();
    });
    CheckValues(corpus, "sizes", 7, [](const Row& row) {
      std::set<std::string> values;
      for (const double size : row.sizes) values.insert(Plain(size));
      return values;
    });
  }
}

using NumbersOfRow = std::function<std::vector<double>(const Row&)>;

uint64_t Kept(const Corpus& corpus, const std::string& filter) {
  const auto parsed = ParseFilter(filter, *corpus.columns.schema());
  INFO(filter << ": " << parsed.status().ToString());
  REQUIRE(parsed.ok());
  return BoundFilter(parsed->root, corpus.columns).Evaluate().and_cardinality(corpus.items);
}

void CheckNumbers(const Corpus& corpus, const std::string& field,
                  const std::vector<std::pair<double, double>>& ranges, double interval,
                  const NumbersOfRow& numbers_of) {
  FacetSpec spec{.field = field, .histogram_interval = interval};
  for (const auto& [from, to] : ranges) spec.ranges.push_back({Number(from), Number(to)});
  const auto out = CountFacet(Checked(spec, *corpus.columns.schema()), corpus.items, corpus.columns, Never);
  INFO(field << ": " << out.status().ToString());
  REQUIRE(out.ok());
  REQUIRE(out->ranges.size() == ranges.size());
  int64_t outside = 0, missing = 0;
  std::vector<int64_t> counts(ranges.size());
  std::map<double, int64_t> buckets;  // by the interval's begin
  for (const Row* row : corpus.counted) {
    const std::vector<double> numbers = numbers_of(*row);
    bool any = false;
    std::set<double> begins;
    for (size_t r = 0; r < ranges.size(); ++r) {
      const bool inside = std::any_of(numbers.begin(), numbers.end(),
                                      [&](double n) { return n >= ranges[r].first && n < ranges[r].second; });
      counts[r] += inside;
      any |= inside;
    }
    for (const double n : numbers) begins.insert(std::floor(n / interval) * interval);
    for (const double begin : begins) ++buckets[begin];
    missing += numbers.empty();
    outside += !numbers.empty() && !any;
  }
  CHECK(out->missing == missing);
  CHECK(out->other == outside);
  for (size_t r = 0; r < ranges.size(); ++r) {
    CHECK(out->ranges[r].count == counts[r]);
    CHECK(Kept(corpus, out->ranges[r].filter) == static_cast<uint64_t>(counts[r]));
  }
  REQUIRE(out->histogram.size() == buckets.size());
  auto bucket = buckets.begin();
  for (const FacetCounts::Range& found : out->histogram) {
    CHECK(found.from.number_value() == bucket->first);
    CHECK(found.to.number_value() == bucket->first + interval);
    CHECK(found.count == bucket->second);
    CHECK(Kept(corpus, found.filter) == static_cast<uint64_t>(found.count));
    ++bucket;
  }
}

TEST_CASE("Ranges and histograms count as brute force does, and their filters keep what they count") {
  for (const auto& [count, one_in] : {std::pair{1, 1}, {60, 2}, {12000, 1}, {12000, 700}}) {
    const Corpus corpus(count, one_in, static_cast<uint32_t>(count * 7 + one_in));
    CheckNumbers(corpus, "year", {{0, 1980}, {1980, 2000}, {1999.5, 2000.5}, {1950, 1951}}, 10,
                 [](const Row& row) {
                   return row.year ? std::vector<double>{double(*row.year)} : std::vector<double>();
                 });
    CheckNumbers(corpus, "price", {{-100, 0}, {0, 100.25}, {5000, 1e9}}, 512, [](const Row& row) {
      return row.price ? std::vector<double>{*row.price} : std::vector<double>();
    });
    // Arrays: one element must lie inside.
    CheckNumbers(corpus, "sizes", {{30, 33}, {33, 33.5}, {38, 39}}, 0.5,
                 [](const Row& row) { return row.sizes; });
  }
}

TEST_CASE("Ranges of times take dates, and the end of a range is not in it") {
  ItemColumns columns(std::make_shared<const Schema>(*Schema::FromRecord(tests::SchemaRecordOf(R"({"fields": [
        {"name": "released", "type": "TIME", "filterable": true}]})"))));
  const char* films[] = {R"({"released": "1994-12-31T23:59:59Z"})", R"({"released": "1995-01-01"})",
                         R"({"released": "1995-12-31"})", R"({"released": "1996-01-01T00:00:00Z"})", "{}"};
  for (ItemOrdinal i = 0; i < 5; ++i) columns.Put(i, tests::Record("film", films[i]), nullptr);
  const Facet facet =
      Checked({.field = "released",
               .ranges = {{{}, Text("1995")}, {Text("1995"), Text("1996")}, {Text("1996-01-01"), {}}}},
              *columns.schema());
  const auto out = CountFacet(facet, columns.rows().live, columns, Never);
  REQUIRE(out.ok());
  const std::pair<int64_t, std::string> expected[] = {
      {1, "released < \"1995-01-01T00:00:00Z\""},
      {2, "released >= \"1995-01-01T00:00:00Z\" AND released < \"1996-01-01T00:00:00Z\""},
      {1, "released >= \"1996-01-01T00:00:00Z\""}};
  for (size_t i = 0; i < 3; ++i) {
    CHECK(out->ranges[i].count == expected[i].first);
    CHECK(out->ranges[i].filter == expected[i].second);
    const auto filter = ParseFilter(out->ranges[i].filter, *columns.schema());
    REQUIRE(filter.ok());
    CHECK(BoundFilter(filter->root, columns).Evaluate().cardinality() ==
          static_cast<uint64_t>(expected[i].first));
  }
  CHECK(out->missing == 1);
  const auto values =
      CountFacet(Checked({.field = "released"}, *columns.schema()), columns.rows().live, columns, Never);
  CHECK(values->values[0].value == "1994-12-31T23:59:59Z");
}

TEST_CASE("Values are found by the beginnings of their words, without regard to case") {
  ItemColumns columns(std::make_shared<const Schema>(*Schema::FromRecord(tests::SchemaRecordOf(R"({"fields": [
        {"name": "genres", "type": "KEYWORD", "array": true, "filterable": true}]})"))));
  const char* films[] = {R"({"genres": ["Science Fiction", "Drama"]})", R"({"genres": ["Sci-Fi", "Drama"]})",
                         R"({"genres": ["Conscience", "Political Science"]})",
                         R"({"genres": ["Ärzte-Drama"]})", R"({"genres": ["Science Fiction"]})"};
  for (ItemOrdinal i = 0; i < 5; ++i) columns.Put(i, tests::Record("film", films[i]), nullptr);
  const auto find = [&](const std::string& query, int limit = 0) {
    auto out =
        CountFacet(Checked({.field = "genres", .limit = limit, .value_query = query}, *columns.schema()),
                   columns.rows().live, columns, Never);
    REQUIRE(out.ok());
    return *out;
  };
  using Values = std::vector<std::pair<std::string, int64_t>>;
  CHECK(ValuesOf(find("SCI")) == Values{{"Science Fiction", 2}, {"Political Science", 1}, {"Sci-Fi", 1}});
  CHECK(ValuesOf(find("science f")) == Values{{"Science Fiction", 2}});
  CHECK(ValuesOf(find("fi")) == Values{{"Science Fiction", 2}, {"Sci-Fi", 1}});
  CHECK(ValuesOf(find("ÄRZ")) == Values{{"Ärzte-Drama", 1}});
  CHECK(ValuesOf(find("rzte")).empty());
  const FacetCounts cut = find("sci", 1);
  CHECK(ValuesOf(cut) == Values{{"Science Fiction", 2}});
  CHECK(cut.distinct == 3);
  CHECK(cut.other == 2);
}

TEST_CASE("A facet that cannot be counted says which field, what it holds and what it takes") {
  const Schema schema = *Schema::FromRecord(tests::SchemaRecordOf(R"({"fields": [
    {"name": "title", "type": "TEXT", "searchable": true},
    {"name": "genres", "type": "KEYWORD", "filterable": true}, {"name": "cost", "type": "FLOATING"},
    {"name": "year", "type": "INTEGER", "filterable": true}, {"name": "when", "type": "TIME", "filterable": true}]})"));
  const auto has = [](const std::string& text) { return Catch::Contains(text); };
  CHECK_THAT(
      Refusal({.field = "title"}, schema),
      has("facets[3].field: 'title' is TEXT; it takes fields that are KEYWORD, INTEGER") && has("'genres'"));
  CHECK_THAT(Refusal({.field = "yaer"}, schema), has("'yaer' is not in the schema; did you mean 'year'?"));
  CHECK_THAT(Refusal({.field = "cost"}, schema), has("'cost' is not filterable; declare it with filterable"));
  CHECK_THAT(Refusal({.field = "year", .limit = 1001}, schema),
             has("facets[3].limit: is 1001; it takes 1 to 1000"));
  CHECK_THAT(Refusal({.field = "year", .limit = -1}, schema), has("facets[3].limit: is -1"));
  CHECK_THAT(Refusal({.field = "year", .value_query = "19"}, schema),
             has("facets[3].value_query: field 'year' is"));
  CHECK_THAT(Refusal({.field = "genres", .value_query = std::string(300, 'a')}, schema),
             has("at most 256 bytes"));
  CHECK_THAT(Refusal({.field = "genres", .ranges = {{}}}, schema),
             has("'genres' is KEYWORD; it takes fields"));
  CHECK_THAT(Refusal({.field = "year", .ranges = {{Number(5), Number(5)}}}, schema),
             has("ranges[0]: is empty"));
  CHECK_THAT(Refusal({.field = "year", .ranges = {{Text("last"), {}}}}, schema),
             has("facets[3].ranges[0].from: is \"last\"; field 'year' is INTEGER: it takes a number"));
  CHECK_THAT(Refusal({.field = "when", .ranges = {{Number(5), {}}}}, schema),
             has("is TIME: it takes text as"));
  CHECK_THAT(Refusal({.field = "when", .histogram_interval = 5}, schema),
             has("facets[3].histogram: field 'when'"));
  CHECK_THAT(Refusal({.field = "year", .histogram_interval = 0}, schema), has("histogram.interval: is 0"));
  CHECK_THAT(Refusal({.field = "year", .limit = 3, .histogram_interval = 5}, schema),
             has("facets[3].limit: goes with"));
  CHECK_THAT(Refusal({.field = "year", .ranges = std::vector<FacetSpec::Range>(101)}, schema),
             has("at most 100"));
  Corpus corpus(4000, 1, 5);
  const auto counted =
      CountFacet(Checked({.field = "price", .histogram_interval = 1e-3}, *corpus.columns.schema()),
                 corpus.items, corpus.columns, Never);
  CHECK_THAT(std::string(counted.status().message()),
             has("histogram.interval: is 0.001") && has("at most 1000"));
}

TEST_CASE("Counting stops at the deadline") {
  const Corpus corpus(40000, 1, 6);
  for (const char* field : {"genres", "brand", "price"}) {
    const auto counted = CountFacet(Checked({.field = field}, *corpus.columns.schema()), corpus.items,
                                    corpus.columns, [] { return true; });
    CHECK(absl::IsDeadlineExceeded(counted.status()));
  }
}

TEST_CASE("What a filter says of a field is left out where AND joins it") {
  const auto schema = RandomSchema();
  const auto parse = [&](const std::string& text) {
    const auto filter = ParseFilter(text, *schema);
    INFO(text << ": " << filter.status().ToString());
    REQUIRE(filter.ok());
    return *filter;
  };
  const Corpus corpus(3000, 1, 8);
  const auto kept = [&](const Filter& filter) {
    return MakeItemSet(BoundFilter(filter.root, corpus.columns).Evaluate()).ToVector();
  };
  const std::vector<std::string> genres = {"genres"}, both = {"genres", "year"};
  const std::tuple<const char*, std::vector<std::string>, const char*> cases[] = {
      {"genres = Drama", genres, ""},
      {"genres = Drama AND year > 1990", genres, "year > 1990"},
      {"genres = Drama AND year > 1990", both, ""},
      {"year > 1950 (genres = Drama (NOT genres = War)) in_stock = true", genres,
       "year > 1950 in_stock = true"},
      {"(genres = Drama OR genres = War) AND year > 1990", genres, "year > 1990"},
      // An alternative cannot be left out without letting everything in.
      {"(genres = Drama OR year > 1990) AND price < 50", genres,
       "(genres = Drama OR year > 1990) AND price < 50"},
      {"(genres = Drama OR year > 1990) AND price < 50", both, "price < 50"},
      {"NOT (genres = Drama AND year > 1990)", genres, "NOT (genres = Drama AND year > 1990)"},
      {"year > 1990", genres, "year > 1990"},
      {"", genres, ""},
  };
  for (const auto& [text, fields, expected] : cases) {
    INFO(text);
    CHECK(kept(WithoutFields(parse(text), fields)) == kept(parse(expected)));
  }
}

}  // namespace
}  // namespace waymark
