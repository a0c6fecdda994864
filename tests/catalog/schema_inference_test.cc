#include "catalog/schema_inference.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "catalog/field_value.h"
#include "tests/catalog/items.h"
#include "tests/catalog/movies.h"
#include "tests/support/skip.h"

namespace waymark {
namespace {

using tests::Fields;
using tests::Inferred;

// «KEYWORD[] filter search(1) category»
std::string Shape(const Schema& schema, const std::string& name) {
  const Field* field = schema.Find(name);
  if (field == nullptr) return "none";
  std::string shape(TypeName(field->type()));
  if (field->array()) shape += "[]";
  if (field->filterable()) shape += " filter";
  if (field->searchable()) shape += " search(" + NumberText(field->search_weight()) + ")";
  if (field->category()) shape += " category";
  if (field->title()) shape += " title";
  return shape;
}

std::string ShapeOf(const std::string& name, std::initializer_list<std::string> values) {
  Schema schema;
  for (const std::string& value : values) {
    bool changed = false;
    schema = schema.ExtendedBy(Fields("{\"" + name + "\": " + value + "}"), &changed);
  }
  return Shape(schema, name);
}

TEST_CASE("Fields find their type by name and first value") {
  const std::tuple<std::string, std::string, std::string> cases[] = {
      {"title", "\"Toy Story\"", "TEXT search(1) title"},
      {"title", "300", "TEXT search(1) title"},
      {"title", "\"2012-12-21\"", "TEXT search(1) title"},
      {"name", "\"Toy Story\"", "TEXT search(1) title"},
      {"text", "\"short\"", "TEXT search(1)"},
      {"year", "1995", "INTEGER filter search(1)"},
      {"model_year", "95", "INTEGER filter search(1)"},
      {"made", "1995", "INTEGER filter search(1)"},
      {"runtime", "95", "INTEGER filter"},
      {"score", "3.5", "FLOATING filter"},
      {"seen", "true", "BOOLEAN filter"},
      {"released", "\"1995-11-22T10:00:00Z\"", "TIME filter"},
      {"released", "\"1995-11-22\"", "TIME filter"},
      {"released", "\"1995-13-22\"", "KEYWORD filter search(1)"},
      {"brand", "\"Acme\"", "KEYWORD filter search(1) category"},
      {"Genre", "\"Drama\"", "KEYWORD filter search(1) category"},
      {"categories", "\"Toys\"", "KEYWORD filter search(1) category"},
      {"sku", "\"A-1\"", "KEYWORD filter search(1)"},
      {"sku", "[\"A-1\"]", "KEYWORD[] filter search(1) category"},
      {"link", "\"https://example.org/a\"", "KEYWORD filter"},
      {"notes", "\"one two three four five six seven eight nine\"", "TEXT search(1)"},
      {"sizes", "[1, 2.5]", "FLOATING[] filter"},
      {"sizes", "[38, \"M\"]", "KEYWORD[] filter search(1) category"},
      {"maker", "{\"name\": \"Pixar\"}", "OBJECT"},
      {"parts", "[{\"a\": 1}]", "OBJECT"},
      {"grid", "[[1], [2]]", "OBJECT"},
      {"nothing", "null", "none"},
      {"nothing", "[]", "none"},
      {"nothing", "\"\"", "none"},
  };
  for (const auto& [name, value, shape] : cases) {
    INFO(name << " = " << value);
    CHECK(ShapeOf(name, {value}) == shape);
  }
  CHECK(ShapeOf("hash", {"\"" + std::string(200, 'f') + "\""}) == "KEYWORD filter search(1)");
  CHECK(ShapeOf("hash", {"\"" + std::string(1025, 'f') + "\""}) == "TEXT search(1)");
}

TEST_CASE("Later values widen a field where nothing is lost, and are refused where something would be") {
  const std::string prose = "\"" + std::string(12, 'a') +
                            std::string(" and so it goes on, word by word")
                                .append(" until it is surely longer than a hundred characters") +
                            "...........\"";
  CHECK(ShapeOf("price", {"3", "3.5", "4"}) == "FLOATING filter");
  CHECK(ShapeOf("made", {"1995", "1995.5"}) == "FLOATING filter search(1)");
  CHECK(ShapeOf("made", {"1995", "[1995, 1996]"}) == "INTEGER[] filter search(1)");
  CHECK(ShapeOf("released", {"\"1995-11-22\"", "\"unknown\""}) == "KEYWORD filter search(1)");
  CHECK(ShapeOf("flag", {"true", "2"}) == "KEYWORD filter search(1)");
  CHECK(ShapeOf("brand", {"\"Acme\"", "7"}) == "KEYWORD filter search(1) category");
  CHECK(ShapeOf("sku", {"\"A\"", "[\"A\", \"B\"]"}) == "KEYWORD[] filter search(1) category");
  CHECK(ShapeOf("blurb", {"\"short\"", prose}) == "TEXT search(1)");
  CHECK(ShapeOf("brand", {"\"Acme\"", "\"one two three four five six seven eight nine\""}) ==
        "KEYWORD filter search(1) category");
  CHECK(ShapeOf("year", {"1995", "\"unknown\""}) == "INTEGER filter search(1)");

  CHECK(
      Inferred({R"({"year": 1995})"}).Check(Fields(R"({"year": "unknown"})")).message() ==
      "field 'year' holds \"unknown\"; it takes whole numbers within 2^53 (write longer ones as text into a "
      "KEYWORD field) (found from the data; declare the schema to give it another type)");
  const Schema schema = Inferred({R"({"brand": "Acme", "year": 1995, "tags": ["a"], "title": "x"})"});
  for (const char* item : {R"({"brand": 7, "year": "1996", "tags": "b", "title": 300})",
                           R"({"year": "", "brand": true})", R"({"tags": [1, null, "x"]})"}) {
    INFO(item);
    CHECK(schema.Check(Fields(item)).ok());
  }
}

TEST_CASE("The title is the field named title, else name") {
  CHECK(Inferred({R"({"name": "n", "title": "t"})"}).TitleField()->name() == "title");
  CHECK(Inferred({R"({"name": "n"})"}).TitleField()->name() == "name");
  CHECK(Inferred({R"({"name": "n"})", R"({"title": "t"})"}).TitleField()->name() == "name");
  CHECK(Inferred({R"({"label": "n"})"}).TitleField() == nullptr);
}

TEST_CASE("Fields inside objects are found by the same rules, those inside arrays of objects as arrays") {
  const Schema schema = Inferred({R"({"size": {"width": 30, "weight": 1.5, "box": {"brand": "Acme"}},
       "variants": [{"color": "red", "sizes": [38, 40]}, {"color": "blue", "made": "2024-03-04"}],
       "shop": {"name": "The long shop", "place": {"lat": 52.5, "lon": 13.4}, "open": true, "note": null},
       "grid": [[1], [2]], "empty": {}})"});
  CHECK(Shape(schema, "size") == "OBJECT");
  CHECK(Shape(schema, "size.width") == "INTEGER filter");
  CHECK(Shape(schema, "size.weight") == "FLOATING filter");
  CHECK(Shape(schema, "size.box") == "OBJECT");
  CHECK(Shape(schema, "size.box.brand") == "KEYWORD filter search(1) category");
  CHECK(Shape(schema, "variants.color") == "KEYWORD[] filter search(1) category");
  CHECK(Shape(schema, "variants.sizes") == "INTEGER[] filter");
  CHECK(Shape(schema, "variants.made") == "TIME[] filter");
  CHECK(Shape(schema, "shop.name") == "TEXT search(1)");
  CHECK(Shape(schema, "shop.place") == "GEO filter");
  CHECK(Shape(schema, "shop.place.lat") == "none");
  CHECK(Shape(schema, "shop.open") == "BOOLEAN filter");
  CHECK(Shape(schema, "shop.note") == "none");
  CHECK(schema.fields().size() == 15);
  CHECK(schema.TitleField() == nullptr);

  CHECK(schema.Check(Fields(R"({"size": {"width": "wide"}})")).message() ==
        "field 'size.width' holds \"wide\"; it takes whole numbers within 2^53 (write longer ones as text "
        "into a "
        "KEYWORD field) (found from the data; declare the schema to give it another type)");
  bool changed = true;
  const Schema wider = schema.ExtendedBy(Fields(R"({"size": [{"width": 30.5}, {"width": 2}]})"), &changed);
  CHECK(changed);
  CHECK(Shape(wider, "size.width") == "FLOATING[] filter");
  // A point that turns out to be an object among others.
  const Schema object = schema.ExtendedBy(Fields(R"({"shop": {"place": {"city": "Berlin"}}})"), &changed);
  CHECK(Shape(object, "shop.place") == "OBJECT");
  CHECK(Shape(object, "shop.place.city") == "KEYWORD filter search(1)");
  CHECK(Shape(object, "shop.place.lat") == "FLOATING filter");
  CHECK(Shape(object, "shop.place.lon") == "FLOATING filter");
  CHECK(schema.ExtendedBy(Fields(R"({"size": {"width": 31}, "empty": {}})"), &changed).fields().size() == 15);
  CHECK_FALSE(changed);
}

TEST_CASE("A name with dots in it is the field that readers take for the path") {
  const Schema schema = Inferred({R"({"a.b": "text", "a": {"b": 2, "c.d": 3, "c": {"d": true}}})"});
  CHECK(Shape(schema, "a.b") == "KEYWORD filter search(1)");
  CHECK(Shape(schema, "a.c.d") == "INTEGER filter");
}

TEST_CASE("A schema that has not changed keeps its revision, one that has grown counts up") {
  bool changed = false;
  const Schema first = Schema().ExtendedBy(Fields(R"({"a": 1})"), &changed);
  CHECK(changed);
  CHECK(first.record().revision() == 1);
  CHECK(first.record().language() == "english");
  CHECK(first.record().stemmer() == "porter");
  CHECK(first.record().remove_stop_words());
  const Schema same = first.ExtendedBy(Fields(R"({"a": 2, "b": null})"), &changed);
  CHECK_FALSE(changed);
  CHECK(same.record().revision() == 1);
  CHECK(first.ExtendedBy(Fields(R"({"b": 2})"), &changed).record().revision() == 2);
}

TEST_CASE("No more than 256 fields are found from the data") {
  google::protobuf::Struct fields;
  for (int i = 0; i < 1000; ++i) (*fields.mutable_fields())["f" + std::to_string(i)].set_number_value(i);
  bool changed = false;
  const Schema schema = Schema().ExtendedBy(fields, &changed);
  CHECK(schema.fields().size() == 256);
  CHECK(schema.Check(fields).ok());

  // Objects by many keys leave room for fields of their own.
  google::protobuf::Struct object;
  *(*object.mutable_fields())["by_user"].mutable_struct_value() = fields;
  const Schema nested = Schema().ExtendedBy(object, &changed);
  CHECK(nested.fields().size() == 129);
  CHECK(nested.ExtendedBy(fields, &changed).fields().size() == 256);
}

TEST_CASE("The Wikipedia films give the schema that a person would write") {
  if (!tests::HaveData("wikipedia-movies")) return;
  Schema schema;
  int64_t films = 0, refused = 0;
  tests::ForEachWikipediaMovie([&](const google::protobuf::Struct& fields) {
    bool changed = false;
    Schema extended = schema.ExtendedBy(fields, &changed);
    if (changed) schema = std::move(extended);
    refused += schema.Check(fields).ok() ? 0 : 1;
    ++films;
  });
  CHECK(films == 36273);
  CHECK(refused == 0);
  CHECK(Shape(schema, "title") == "TEXT search(1) title");
  CHECK(Shape(schema, "extract") == "TEXT search(1)");
  CHECK(Shape(schema, "genres") == "KEYWORD[] filter search(1) category");
  CHECK(Shape(schema, "cast") == "KEYWORD[] filter search(1) category");
  CHECK(Shape(schema, "year") == "INTEGER filter search(1)");
  CHECK(Shape(schema, "href") == "KEYWORD filter search(1)");
  CHECK(Shape(schema, "thumbnail") == "KEYWORD filter");
  CHECK(schema.fields().size() == 9);
}

TEST_CASE("MovieLens' films give title and genres") {
  if (!tests::HaveData("ml-latest-small")) return;
  Schema schema;
  std::ifstream in(tests::SharedData() / "ml-latest-small" / "movies.csv");
  std::string line;
  std::getline(in, line);
  int films = 0;
  while (std::getline(in, line)) {
    const size_t first = line.find(','), last = line.rfind(',');
    if (!line.empty() && line.back() == '\r') line.pop_back();
    google::protobuf::Struct fields;
    (*fields.mutable_fields())["title"].set_string_value(line.substr(first + 1, last - first - 1));
    (*fields.mutable_fields())["genres"].mutable_list_value()->add_values()->set_string_value(
        line.substr(last + 1));
    bool changed = false;
    schema = schema.ExtendedBy(fields, &changed);
    CHECK(schema.Check(fields).ok());
    ++films;
  }
  CHECK(films == 9742);
  CHECK(Shape(schema, "title") == "TEXT search(1) title");
  CHECK(Shape(schema, "genres") == "KEYWORD[] filter search(1) category");
}

}  // namespace
}  // namespace waymark
