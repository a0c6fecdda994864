// Fields that are points, vectors, or lie inside objects: what they take, and where they are found.
#include "catalog/filter_evaluator.h"
#include "catalog/schema.h"
#include "tests/catalog/items.h"

namespace waymark {
namespace {

using tests::SchemaRecordOf;
using Items = std::vector<uint32_t>;

TEST_CASE("points and vectors are checked against the schema, and points are found from the data") {
  const Schema schema = *Schema::FromRecord(SchemaRecordOf(R"({"fields": [
    {"name": "at", "type": "GEO", "filterable": true},
    {"name": "v", "type": "VECTOR", "dimension": 3},
    {"name": "e", "type": "VECTOR", "dimension": 2, "metric": "EUCLIDEAN"}], "declared": true})"));
  const auto check = [&](const std::string& json) {
    return std::string(schema.Check(tests::Fields(json)).message());
  };
  CHECK(check(R"({"at": {"lat": 1, "lon": 2}, "v": [1, 2, 3], "e": [0, 0]})").empty());
  CHECK(check(R"({"at": "1.5, -2"})").empty());
  CHECK_THAT(check(R"({"at": {"lat": 91, "lon": 2}})"),
             Catch::Contains("field 'at' holds an object; it takes points"));
  CHECK_THAT(check(R"({"at": "here"})"), Catch::Contains("field 'at' holds \"here\"; it takes points"));
  CHECK(check(R"({"v": [1, 2]})") == "field 'v' holds an array of 2; it takes arrays of 3 numbers");
  CHECK(check(R"({"v": [1, "a", 2]})") ==
        "field 'v' holds an array with \"a\" at place 2; it takes arrays of 3 numbers");
  CHECK(check(R"({"v": [0, 0, 0]})") ==
        "field 'v' holds a vector of zeros, which has no direction; leave it out");
  const auto declared = [](const std::string& json) {
    return std::string(Schema::FromRecord(SchemaRecordOf(json)).status().message());
  };
  CHECK(declared(R"({"fields": [{"name": "v", "type": "VECTOR"}]})") ==
        "schema, field 'v': dimension is 0; VECTOR fields take 1 to 4096");
  CHECK_THAT(declared(R"({"fields": [{"name": "v", "type": "TEXT", "dimension": 4}]})"),
             Catch::Contains("has a dimension or metric, which VECTOR fields take"));
  CHECK_THAT(declared(R"({"fields": [{"name": "v", "type": "VECTOR", "dimension": 4, "filterable": true}]})"),
             Catch::Contains("VECTOR fields hold one vector an item"));
  CHECK_THAT(declared(R"({"fields": [{"name": "g", "type": "GEO", "searchable": true}]})"),
             Catch::Contains("GEO fields are not searched by words"));
  bool changed = false;
  Schema found = Schema().ExtendedBy(tests::Fields(R"({"at": {"lat": 1, "lon": 2}})"), &changed);
  REQUIRE(found.Find("at") != nullptr);
  CHECK(found.Find("at")->type() == storage::FieldRecord::GEO);
  CHECK(found.Find("at")->filterable());
  found = found.ExtendedBy(tests::Fields(R"({"at": [{"lat": 1, "lon": 2}]})"), &changed);
  CHECK(found.Find("at")->array());
  found = found.ExtendedBy(tests::Fields(R"({"at": {"lat": 1, "lon": 2, "name": "here"}})"), &changed);
  CHECK(found.Find("at")->type() == storage::FieldRecord::OBJECT);
  CHECK_FALSE(found.Find("at")->filterable());
}

TEST_CASE("fields named by their path lie inside objects") {
  ItemColumns columns(std::make_shared<const Schema>(*Schema::FromRecord(SchemaRecordOf(R"({"fields": [
    {"name": "size", "type": "OBJECT"},
    {"name": "size.width", "type": "INTEGER", "filterable": true},
    {"name": "variants.color", "type": "KEYWORD", "array": true, "filterable": true},
    {"name": "a.b", "type": "INTEGER", "filterable": true}]})"))));
  const auto put = [&](ItemOrdinal item, const std::string& json, const std::vector<std::string>& changed) {
    storage::ItemChange change;
    change.set_ordinal(item);
    change.set_all(changed.empty());
    for (const std::string& name : changed) change.add_changed_fields(name);
    *change.mutable_record()->mutable_fields() = tests::Fields(json);
    columns.Apply(change);
    CHECK(columns.DifferingFields(item, change.record()).empty());
  };
  const auto passing = [&](const std::string& text) {
    auto filter = ParseFilter(text, *columns.schema());
    INFO(filter.status());
    REQUIRE(filter.ok());
    const Bitmap found = BoundFilter(filter->root, columns).Evaluate();
    return Items(found.begin(), found.end());
  };
  put(0, R"({"size": {"width": 30}, "variants": [{"color": "red"}, {"color": "blue"}, {"price": 1}]})", {});
  put(1, R"({"size": {"height": 30}, "a.b": 5})", {});
  put(2, R"({"a": {"b": 6}})", {});
  CHECK(passing("size.width = 30") == Items{0});
  CHECK(passing("variants.color = \"blue\"") == Items{0});
  CHECK(passing("a.b >= 5") == Items{1, 2});
  put(1, R"({"size": {"width": 40}, "a.b": 5})", {"size"});
  CHECK(passing("size.width > 30") == Items{1});
  CHECK(columns.BrokenIndexes().empty());
}

}  // namespace
}  // namespace waymark
