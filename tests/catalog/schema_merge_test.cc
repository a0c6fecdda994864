#include "catalog/schema_merge.h"

#include "catalog/schema.h"
#include "tests/catalog/items.h"

namespace waymark {
namespace {

using tests::SchemaRecordOf;

constexpr char kPresent[] =
    R"({"declared": true, "revision": "3", "language": "english", "stemmer": "snowball",
  "fields": [{"name": "title", "type": "TEXT", "title": true, "searchable": true, "searchWeight": 2},
             {"name": "year", "type": "INTEGER", "filterable": true}]})";

storage::SchemaRecord Merged(const std::string& present, const std::string& changes) {
  auto merged = MergeSchema(SchemaRecordOf(present), SchemaRecordOf(changes));
  INFO(merged.status());
  REQUIRE(merged.ok());
  return *merged;
}
std::string Refusal(const std::string& changes) {
  auto merged = MergeSchema(SchemaRecordOf(kPresent), SchemaRecordOf(changes));
  return merged.ok() ? "no error" : std::string(merged.status().message());
}
std::string Names(const storage::SchemaRecord& record) {
  std::string names;
  for (const auto& field : record.fields()) names += (names.empty() ? "" : " ") + field.name();
  return names;
}

TEST_CASE("Fields and settings that nobody names stay") {
  auto merged = Merged(kPresent, R"({"fields": [{"name": "brand", "type": "KEYWORD"}]})");
  CHECK(Names(merged) == "title year brand");
  CHECK(merged.fields(0).search_weight() == 2);
  CHECK(merged.stemmer() == "snowball");
  CHECK_FALSE(merged.remove_stop_words());
  merged = Merged(kPresent, R"({"fields": [{"name": "title", "type": "KEYWORD"}], "stemmer": "porter"})");
  CHECK(Names(merged) == "title year");
  CHECK(merged.fields(0).type() == storage::FieldRecord::KEYWORD);
  CHECK_FALSE(merged.fields(0).title());  // a field is replaced whole
  CHECK(merged.language() == "english");
  CHECK(merged.stemmer() == "porter");
}

TEST_CASE("A field that is named without a type is dropped") {
  CHECK(Names(Merged(kPresent, R"({"fields": [{"name": "year"}]})")) == "title");
  CHECK(Refusal(R"({"fields": [{"name": "yaer"}]})") ==
        "schema, field 'yaer': has no type, which drops a field, and is not in the schema; give one of TEXT, "
        "KEYWORD, INTEGER, FLOATING, BOOLEAN, TIME, OBJECT, GEO, VECTOR");
  CHECK(Refusal(R"({"fields": [{"name": "year"}, {"name": "title"}]})").find("schema.fields: ") == 0);
  CHECK(Refusal(R"({"fields": [{"name": "year"}, {"name": "year", "type": "TIME"}]})") ==
        "schema, field 'year': is there twice; names are unique");
}

TEST_CASE("Stop words go unless somebody says what the language is") {
  const std::string field = R"("fields": [{"name": "title", "type": "TEXT"}])";
  const auto of = [&](const std::string& present, const std::string& changes) {
    auto schema = Schema::FromRecord(Merged(present, "{" + field + changes + "}"));
    REQUIRE(schema.ok());
    return schema->record();
  };
  CHECK(of("{}", "").remove_stop_words());
  CHECK(of("{}", "").stemmer() == "porter");
  CHECK_FALSE(of("{}", R"(, "language": "english")").remove_stop_words());
  CHECK(of("{}", R"(, "language": "english", "removeStopWords": true)").remove_stop_words());
  CHECK(of(R"({"language": "english"})", R"(, "removeStopWords": true)").remove_stop_words());
  CHECK_FALSE(of(R"({"language": "english"})", "").remove_stop_words());
  CHECK(of(kPresent, R"(, "language": "none")").stemmer() == "none");
  CHECK(of(kPresent, R"(, "language": "english")").stemmer() == "snowball");
}

}  // namespace
}  // namespace waymark
