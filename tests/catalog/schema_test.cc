#include "catalog/schema.h"

#include <cmath>
#include <limits>

#include "catalog/nearest_name.h"
#include "tests/catalog/items.h"

namespace waymark {
namespace {

using tests::Fields;
using tests::SchemaRecordOf;

std::string ErrorOf(const std::string& schema) {
  const auto made = Schema::FromRecord(SchemaRecordOf(schema));
  return made.ok() ? "no error" : std::string(made.status().message());
}

Schema Declared() {
  return *Schema::FromRecord(SchemaRecordOf(R"({"declared": true, "fields": [
    {"name": "title", "type": "TEXT", "title": true}, {"name": "genres", "type": "KEYWORD", "array": true},
    {"name": "brand", "type": "KEYWORD"}, {"name": "year", "type": "INTEGER"}, {"name": "price", "type": "FLOATING"},
    {"name": "seen", "type": "BOOLEAN"}, {"name": "released", "type": "TIME"}, {"name": "maker", "type": "OBJECT"}]})"));
}

std::string Misfit(const Schema& schema, const std::string& item) {
  const absl::Status status = schema.Check(Fields(item));
  return status.ok() ? "fits" : std::string(status.message());
}

TEST_CASE("A schema is refused by the name of the field that is wrong") {
  CHECK(ErrorOf(R"({"fields": [{"name": "", "type": "TEXT"}]})") == "schema: a field has an empty name");
  CHECK(ErrorOf(R"({"fields": [{"name": "a"}]})") ==
        "schema, field 'a': has no type; give one of TEXT, KEYWORD, INTEGER, FLOATING, BOOLEAN, TIME, "
        "OBJECT, GEO, VECTOR");
  CHECK(ErrorOf(R"({"fields": [{"name": "a", "type": "TEXT"}, {"name": "a", "type": "TIME"}]})") ==
        "schema, field 'a': is there twice; names are unique");
  CHECK(ErrorOf(R"({"fields": [{"name": "a", "type": "TEXT", "searchWeight": -1}]})") ==
        "schema, field 'a': search_weight is -1; it takes a number from 0 (which means 1) up");
  CHECK(ErrorOf(R"({"fields": [{"name": "a", "type": "TEXT", "searchWeight": "NaN"}]})") ==
        "schema, field 'a': search_weight is nan; it takes a number from 0 (which means 1) up");
  CHECK(ErrorOf(R"({"fields": [{"name": "a", "type": "INTEGER", "title": true}]})") ==
        "schema, field 'a': is the title, but INTEGER; a title is a TEXT or KEYWORD field");
  CHECK(ErrorOf(R"({"fields": [{"name": "a", "type": "TEXT", "title": true},
                               {"name": "b", "type": "TEXT", "title": true}]})") ==
        "schema, field 'b': is a second title beside 'a'; keep one");
  CHECK(ErrorOf(R"({"fields": [{"name": "a", "type": "TEXT", "category": true}]})") ==
        "schema, field 'a': is a category; categories are KEYWORD, INTEGER or BOOLEAN fields");
  CHECK(ErrorOf(R"({"fields": [{"name": "a", "type": "TEXT", "filterable": true}]})") ==
        "schema, field 'a': TEXT fields do not filter; make it KEYWORD, or add a KEYWORD field beside it");
  CHECK(ErrorOf(R"({"fields": [{"name": "a", "type": "OBJECT", "searchable": true}]})") ==
        "schema, field 'a': OBJECT fields are kept and returned only; lift what is filtered or searched out "
        "of it");
  CHECK(ErrorOf(R"({"language": "klingon"})") ==
        "schema: language is 'klingon'; it takes none, arabic, armenian, basque, catalan, danish, dutch, "
        "english, "
        "finnish, french, german, greek, hindi, hungarian, indonesian, irish, italian, lithuanian, nepali, "
        "norwegian, portuguese, romanian, russian, serbian, spanish, swedish, tamil, turkish, yiddish");
  CHECK(ErrorOf(R"({"language": "dutch"})") == "no error");
  CHECK(ErrorOf(R"({"analyzer": "letters"})") == "schema: analyzer is 'letters'; it takes words or standard");
  CHECK(ErrorOf(R"({"language": "dutch", "stemmer": "porter"})") ==
        "schema: stemmer is 'porter', which is for English, and language is 'dutch'; it takes snowball or "
        "none");
  CHECK(ErrorOf(R"({"language": "greek", "removeStopWords": true})") ==
        "schema: remove_stop_words is set, and there is no list for 'greek'; there are lists for danish, "
        "dutch, "
        "english, finnish, french, german, hungarian, italian, nepali, norwegian, portuguese, russian, "
        "spanish, "
        "swedish, turkish");
  CHECK(ErrorOf(R"({"fields": [{"name": "a", "type": "TEXT", "language": "klingon"}]})")
            .starts_with("schema, field 'a': language is 'klingon'; it takes none, arabic"));
  CHECK(
      ErrorOf(R"({"fields": [{"name": "a", "type": "INTEGER", "language": "german"}]})") ==
      "schema, field 'a': has analyzer, language, stemmer or remove_stop_words, but is INTEGER; they are for "
      "TEXT and KEYWORD fields");
  CHECK(ErrorOf(R"({"stemmer": "krovetz"})") ==
        "schema: stemmer is 'krovetz'; it takes snowball, porter or none");
}

TEST_CASE("A declared schema takes what it names and refuses the rest with what it holds and takes") {
  const Schema schema = Declared();
  CHECK(Misfit(schema,
               R"({"title": "Toy Story", "genres": ["Animation"], "year": 1995, "price": 3, "seen": true,
                           "released": "1995-11-22", "maker": {"a": [1]}, "other": {"x": 1}, "brand": null})") ==
        "fits");
  CHECK(Misfit(schema, R"({"genres": "Animation"})") == "fits");
  CHECK(Misfit(schema, R"({"year": 1995.5})") ==
        "field 'year' holds 1995.5; it takes whole numbers within 2^53 (write longer ones as text into a "
        "KEYWORD "
        "field)");
  CHECK(Misfit(schema, R"({"year": 9007199254740994})") ==
        "field 'year' holds 9007199254740994; it takes whole numbers within 2^53 (write longer ones as text "
        "into "
        "a KEYWORD field)");
  CHECK(Misfit(schema, R"({"year": 9007199254740992})") == "fits");
  CHECK(Misfit(schema, R"({"year": "1995"})") ==
        "field 'year' holds \"1995\"; it takes whole numbers within 2^53 (write longer ones as text into a "
        "KEYWORD field)");
  CHECK(Misfit(schema, R"({"title": 7})") == "field 'title' holds 7; it takes text");
  CHECK(Misfit(schema, R"({"brand": ["a"]})") ==
        "field 'brand' holds an array of 1; it takes text of at most 1,024 bytes");
  CHECK(Misfit(schema, R"({"genres": ["a", 7]})") ==
        "field 'genres' holds an array with 7 at place 2; it takes arrays of text of at most 1,024 bytes");
  CHECK(Misfit(schema, R"({"seen": "yes"})") == "field 'seen' holds \"yes\"; it takes true or false");
  CHECK(Misfit(schema, R"({"released": "22 November 1995, a Wednesday in the autumn of that year"})") ==
        "field 'released' holds \"22 November 1995, a Wednesday in the aut...\"; it takes RFC 3339 times "
        "(1995-11-22T00:00:00Z) or dates (1995-11-22)");
  CHECK(Misfit(schema, R"({"maker": "Pixar"})") == "field 'maker' holds \"Pixar\"; it takes objects");
}

TEST_CASE("Numbers that are not finite and text that is not UTF-8 are refused wherever they stand") {
  google::protobuf::Struct fields;
  (*fields.mutable_fields())["price"].set_number_value(std::numeric_limits<double>::infinity());
  CHECK(Declared().Check(fields).message() ==
        "field 'price' holds inf; numbers are finite, leave it out instead");
  fields.Clear();
  auto& inner = *(*fields.mutable_fields())["other"].mutable_struct_value()->mutable_fields();
  inner["x"].mutable_list_value()->add_values()->set_number_value(std::nan(""));
  CHECK(Declared().Check(fields).message() ==
        "field 'other.x' holds nan; numbers are finite, leave it out instead");
  fields.Clear();
  (*fields.mutable_fields())["title"].set_string_value("\xC3");
  CHECK(Schema().Check(fields).message() ==
        "field 'title' holds text that is no valid UTF-8; it takes UTF-8 only");
  // A surrogate half and an overlong form are no UTF-8 either.
  for (const char* bad : {"\xED\xA0\x80", "\xC0\x80", "\xF4\x90\x80\x80"}) {
    (*fields.mutable_fields())["title"].set_string_value(bad);
    CHECK_FALSE(Schema().Check(fields).ok());
  }
  google::protobuf::Value deep;
  for (int i = 0; i < 80; ++i) {
    google::protobuf::Value outer;
    *outer.mutable_list_value()->add_values() = deep;
    deep = outer;
  }
  fields.Clear();
  (*fields.mutable_fields())["a"] = deep;
  CHECK(Schema().Check(fields).message() == "field 'a' is nested deeper than 64; flatten it");
}

TEST_CASE("A declared schema does not grow") {
  bool changed = true;
  CHECK(Declared().ExtendedBy(Fields(R"({"new": 1})"), &changed).fields().size() == 8);
  CHECK_FALSE(changed);
}

TEST_CASE("The nearest name is found through slips of the pen, and not where none is near") {
  CHECK(NearestName("yaer", {"title", "year"}) == "year");
  CHECK(NearestName("Genre", {"genres", "year"}) == "genres");
  CHECK(NearestName("relesaed", {"released", "related"}) == "released");
  CHECK(NearestName("colour", {"genres", "year"}).empty());
  CHECK(NearestName("", {"a"}) == "a");
}

}  // namespace
}  // namespace waymark
