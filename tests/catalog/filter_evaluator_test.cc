#include "catalog/filter_evaluator.h"

#include "catalog/item_columns.h"
#include "tests/catalog/items.h"
#include "tests/catalog/random_rows.h"

namespace waymark {
namespace {

using tests::RandomRows;
using tests::Row;

std::shared_ptr<const Schema> RandomSchema() {
  return std::make_shared<const Schema>(*Schema::FromRecord(tests::SchemaRecordOf(RandomRows::kSchema)));
}

void Put(ItemOrdinal item, const Row& row, ItemColumns* columns) {
  storage::ItemChange change;
  change.set_ordinal(item);
  change.set_all(true);
  change.mutable_record()->set_deleted(!row.live);
  if (row.live) *change.mutable_record()->mutable_fields() = RandomRows::FieldsOf(row);
  columns->Apply(change);
}

std::vector<ItemOrdinal> Passing(const ItemColumns& columns, const std::string& text) {
  const auto filter = ParseFilter(text, *columns.schema());
  INFO(text << ": " << filter.status().ToString());
  REQUIRE(filter.ok());
  return MakeItemSet(BoundFilter(filter->root, columns).Evaluate()).ToVector();
}

void CheckAgainstBruteForce(const ItemColumns& columns, const std::vector<Row>& rows, int filters,
                            RandomRows* random) {
  for (int i = 0; i < filters; ++i) {
    const RandomRows::Asked asked = random->MakeFilter();
    INFO(asked.text);
    std::vector<ItemOrdinal> expected;
    for (ItemOrdinal item = 0; item < rows.size(); ++item) {
      if (rows[item].live && asked.passes(rows[item])) expected.push_back(item);
    }
    REQUIRE(Passing(columns, asked.text) == expected);
    const auto filter = ParseFilter(asked.text, *columns.schema());
    const BoundFilter bound(filter->root, columns);
    for (int probe = 0; probe < 50; ++probe) {
      const auto item = static_cast<ItemOrdinal>(random->Below(static_cast<int>(rows.size())));
      REQUIRE(bound.Passes(item) == (rows[item].live && asked.passes(rows[item])));
    }
  }
}

TEST_CASE("Random filters over random items keep what a brute-force evaluation keeps") {
  for (const int count : {1, 40, 12000}) {
    RandomRows random(static_cast<uint32_t>(count));
    ItemColumns columns(RandomSchema());
    std::vector<Row> rows;
    for (int i = 0; i < count; ++i) {
      rows.push_back(random.MakeRow());
      Put(static_cast<ItemOrdinal>(i), rows.back(), &columns);
    }
    CheckAgainstBruteForce(columns, rows, count == 12000 ? 400 : 800, &random);
    // The same after most items have changed in place, some of them more than once.
    for (int i = 0; i < count * 2; ++i) {
      const auto item = static_cast<ItemOrdinal>(random.Below(count));
      rows[item] = random.MakeRow();
      Put(item, rows[item], &columns);
    }
    CheckAgainstBruteForce(columns, rows, count == 12000 ? 400 : 800, &random);
  }
}

TEST_CASE("Filters mean what docs/filters.md says, on five films by hand") {
  ItemColumns columns(std::make_shared<const Schema>(tests::Inferred({
      R"({"genres": ["Drama"], "year": 1995, "score": 3.5, "seen": true, "released": "1995-11-22"})",
  })));
  const std::string films[] = {
      R"({"genres": ["Drama", "Comedy"], "year": 1995, "score": 3.5, "seen": true, "released": "1995-11-22"})",
      R"({"genres": ["drama"], "year": 1996, "score": 4, "released": "1995-11-22T23:59:59Z"})",
      R"({"genres": ["Noir"], "year": 1941, "seen": false})",
      R"({"year": 2001, "score": 0})",
      R"({"genres": [], "released": "2001-01-01"})",
  };
  for (ItemOrdinal i = 0; i < 5; ++i) {
    columns.Put(i, tests::Record("film", films[i]), nullptr);
  }
  using Items = std::vector<ItemOrdinal>;
  const std::pair<const char*, Items> cases[] = {
      {"", {0, 1, 2, 3, 4}},
      {"genres = \"Drama\"", {0}},
      {"genres = \"DRAMA\"", {}},
      {"genres:drama", {0, 1}},
      {"genres != \"Drama\"", {1, 2}},
      {"NOT genres = \"Drama\"", {1, 2, 3, 4}},
      {"genres:*", {0, 1, 2}},
      {"-genres:*", {3, 4}},
      {"genres IN (\"Comedy\", \"Noir\")", {0, 2}},
      {"year:1941..1995", {0, 2}},
      {"year > 1995", {1, 3}},
      {"year IN (1941, 2001)", {2, 3}},
      {"score < 3.5", {3}},
      {"score = 0", {3}},
      {"score = -0.0", {3}},
      {"seen = false", {2}},
      {"seen != true", {2}},
      {"NOT seen = true", {1, 2, 3, 4}},
      {"released = 1995-11-22", {0, 1}},
      {"released < 1995-11-22T10:00:00Z", {0}},
      {"released > 1995-11-22", {4}},
      {"year = 1995 OR year = 1996 AND genres:drama genres = \"Comedy\"", {0}},
  };
  for (const auto& [text, expected] : cases) {
    INFO(text);
    CHECK(Passing(columns, text) == expected);
  }
  columns.Delete(0);
  CHECK(Passing(columns, "year:1941..1995") == Items{2});
  CHECK(Passing(columns, "-year = 1941") == Items{1, 3, 4});
}

}  // namespace
}  // namespace waymark
