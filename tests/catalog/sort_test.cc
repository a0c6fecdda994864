#include "catalog/item_order.h"
#include "catalog/sort_order.h"
#include "tests/catalog/items.h"

namespace waymark {
namespace {

Schema FilmSchema() {
  return *Schema::FromRecord(tests::SchemaRecordOf(R"({"fields": [
    {"name": "title", "type": "TEXT", "searchable": true}, {"name": "genres", "type": "KEYWORD", "array": true},
    {"name": "year", "type": "INTEGER"}, {"name": "sizes", "type": "FLOATING", "array": true},
    {"name": "seen", "type": "BOOLEAN"}, {"name": "released", "type": "TIME"},
    {"name": "shelf life", "type": "INTEGER"}]})"));
}

TEST_CASE("An order is fields with directions, quoted where a name has spaces") {
  const auto order = ParseSortOrder("  year DESC,genres asc , \"shelf life\" desc,seen", FilmSchema());
  INFO(order.status().ToString());
  REQUIRE(order.ok());
  REQUIRE(order->keys.size() == 4);
  const std::pair<const char*, bool> expected[] = {
      {"year", true}, {"genres", false}, {"shelf life", true}, {"seen", false}};
  for (size_t i = 0; i < 4; ++i) {
    CHECK(order->keys[i].field.name() == expected[i].first);
    CHECK(order->keys[i].descending == expected[i].second);
  }
  CHECK(ParseSortOrder("  ", FilmSchema())->keys.empty());
}

TEST_CASE("A wrong order names the field or word and what is taken") {
  const std::pair<std::string, std::string> cases[] = {
      {"yaer",
       "order_by: 'yaer' is not in the schema; did you mean 'year'? It takes fields that are KEYWORD"},
      {"title", "order_by: 'title' is TEXT; it takes fields that are KEYWORD, INTEGER"},
      {"year down", "order_by: 'down' stands after field 'year'; it takes asc, desc or a comma there"},
      {"year desc seen", "order_by: a comma is missing between fields"},
      {"year,", "order_by: it ends with a comma"},
      {",year", "order_by: a field is missing at a comma"},
      {"year, year desc", "order_by: field 'year' is named twice"},
      {"\"shelf life", "order_by: the quote before 'shelf life' is not closed"},
      {std::string(1025, 'y'), "order_by: has 1025 bytes; it takes at most 1024"},
  };
  for (const auto& [text, message] : cases) {
    INFO(text);
    const auto order = ParseSortOrder(text, FilmSchema());
    CHECK(absl::IsInvalidArgument(order.status()));
    CHECK_THAT(std::string(order.status().message()), Catch::StartsWith(message));
  }
}

// Worked by hand: missing values last in both directions, arrays by their least or greatest value.
TEST_CASE("Items come in the order that docs/search.md says") {
  ItemColumns columns(std::make_shared<const Schema>(FilmSchema()));
  const char* films[] = {
      R"({"genres": ["War", "Drama"], "year": 1995, "sizes": [3, 9], "seen": true, "released": "1995-11-22"})",
      R"({"genres": ["Comedy"], "year": 1941, "sizes": [5], "seen": false, "released": "1995-11-21"})",
      R"({"year": 1995, "sizes": [4, 7], "released": "2001-01-01"})",
      R"({"genres": ["comedy"], "seen": true})",
      R"({"genres": ["Drama"], "year": 2001, "sizes": [-1]})",
  };
  for (ItemOrdinal i = 0; i < 5; ++i) columns.Put(i, tests::Record("film", films[i]), nullptr);
  const float scores[] = {1, 2, 3, 4, 5};
  using Items = std::vector<ItemOrdinal>;
  const std::pair<const char*, Items> cases[] = {
      {"", {4, 3, 2, 1, 0}},  // by score alone
      {"year", {1, 2, 0, 4, 3}},
      {"year desc", {4, 2, 0, 1, 3}},
      {"year, seen desc", {1, 0, 2, 4, 3}},
      {"genres", {1, 4, 0, 3, 2}},  // Comedy, Drama (twice, the greater score first), comedy
      {"genres desc", {3, 0, 4, 1, 2}},
      {"sizes", {4, 0, 2, 1, 3}},
      {"sizes desc", {0, 2, 1, 4, 3}},
      {"seen, year desc", {1, 0, 3, 4, 2}},
      {"released desc", {2, 0, 1, 4, 3}},
  };
  for (const auto& [text, expected] : cases) {
    INFO(text);
    const auto order = ParseSortOrder(text, *columns.schema());
    REQUIRE(order.ok());
    const ItemOrder bound(*order, columns);
    std::vector<ItemOrder::Entry> entries;
    for (ItemOrdinal i = 0; i < 5; ++i) entries.push_back(bound.Make({i, scores[i]}));
    std::sort(entries.begin(), entries.end(),
              [&](const auto& a, const auto& b) { return bound.Before(a, b); });
    Items items;
    for (const auto& entry : entries) items.push_back(entry.item);
    CHECK(items == expected);
  }
}

}  // namespace
}  // namespace waymark
