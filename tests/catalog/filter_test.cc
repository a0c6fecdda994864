#include "catalog/filter.h"

#include <limits>

#include "tests/catalog/items.h"

namespace waymark {
namespace {

using Kind = FilterNode::Kind;

const Schema& MovieSchema() {
  static const Schema schema = *Schema::FromRecord(tests::SchemaRecordOf(R"({"fields": [
    {"name": "title", "type": "TEXT", "searchable": true, "title": true},
    {"name": "genres", "type": "KEYWORD", "array": true, "filterable": true, "category": true},
    {"name": "year", "type": "INTEGER", "filterable": true},
    {"name": "price", "type": "FLOATING", "filterable": true},
    {"name": "in_stock", "type": "BOOLEAN", "filterable": true},
    {"name": "released", "type": "TIME", "filterable": true},
    {"name": "secret", "type": "KEYWORD"},
    {"name": "maker", "type": "OBJECT"},
    {"name": "shelf life", "type": "INTEGER", "filterable": true}]})"));
  return schema;
}

std::string ErrorOf(const std::string& text) {
  const auto filter = ParseFilter(text, MovieSchema());
  return filter.ok() ? "no error" : std::string(filter.status().message());
}

Filter Parsed(const std::string& text) {
  auto filter = ParseFilter(text, MovieSchema());
  INFO(text << ": " << filter.status().ToString());
  REQUIRE(filter.ok());
  return *std::move(filter);
}

TEST_CASE("An empty filter keeps everything") {
  CHECK(Parsed("").root.kind == Kind::kAll);
  CHECK(Parsed(" \t\n").root.kind == Kind::kAll);
}

TEST_CASE("OR binds tighter than AND, as in AIP-160") {
  const FilterNode root = Parsed("year = 1 AND year = 2 OR year = 3").root;
  REQUIRE(root.kind == Kind::kAnd);
  REQUIRE(root.children.size() == 2);
  CHECK(root.children[0].kind == Kind::kEquals);
  CHECK(root.children[1].kind == Kind::kOr);
}

TEST_CASE("Comparisons beside each other are joined by AND") {
  const FilterNode root = Parsed("year > 1 (price < 2 in_stock = true)").root;
  REQUIRE(root.kind == Kind::kAnd);
  CHECK(root.children[1].kind == Kind::kAnd);
}

TEST_CASE("NOT and the minus sign negate what follows") {
  CHECK(Parsed("NOT year = 1").root.kind == Kind::kNot);
  CHECK(Parsed("-genres:drama").root.kind == Kind::kNot);
  CHECK(Parsed("-(year = 1 OR year = 2)").root.children[0].kind == Kind::kOr);
  CHECK(Parsed("price = -5").root.numbers == std::vector<double>{-5, -5});
}

TEST_CASE("Quoted values take escapes, bare ones end at spaces and parentheses") {
  CHECK(Parsed(R"(genres = "a \"b\" \\ \u00e9")").root.texts[0] == "a \"b\" \\ \xC3\xA9");
  CHECK(Parsed("genres = 'it\\'s'").root.texts[0] == "it's");
  CHECK(Parsed("(genres=Sci-Fi)").root.texts[0] == "Sci-Fi");
  CHECK(Parsed("genres:\"*\"").root.texts[0] == "*");
  CHECK(Parsed("\"shelf life\" = 3").root.field == "shelf life");
  CHECK(Parsed("genres IN (Drama, \"War\",'Noir')").root.texts ==
        std::vector<std::string>{"Drama", "War", "Noir"});
}

TEST_CASE("Numbers become closed intervals") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  CHECK(Parsed("year:1990..1999").root.numbers == std::vector<double>{1990, 1999});
  CHECK(Parsed("year:1990..").root.numbers == std::vector<double>{1990, kInf});
  CHECK(Parsed("year:..1999").root.numbers == std::vector<double>{-kInf, 1999});
  CHECK(Parsed("(year:1990..)").root.numbers == std::vector<double>{1990, kInf});
  CHECK(Parsed("year >= 1990").root.numbers == std::vector<double>{1990, kInf});
  CHECK(Parsed("price < 0").root.numbers[1] == -std::numeric_limits<double>::denorm_min());
  CHECK(Parsed("year IN (1, 2)").root.numbers == std::vector<double>{1, 1, 2, 2});
  CHECK(Parsed("in_stock = TRUE").root.numbers == std::vector<double>{1, 1});
  CHECK(Parsed("year:*").root.numbers.empty());
}

TEST_CASE("Times are instants, or the whole day, month or year that is named") {
  // Seconds since 1970 by `date -u -d ... +%s`.
  CHECK(Parsed("released = \"1995-11-22T10:20:30Z\"").root.numbers ==
        std::vector<double>{817035630e6, 817035630e6});
  CHECK(Parsed("released = 1995-11-22T10:20:30+02:00").root.numbers[0] == 817028430e6);
  CHECK(Parsed("released = 1995-11-22").root.numbers == std::vector<double>{816998400e6, 817084800e6 - 1});
  CHECK(Parsed("released = 1995-11").root.numbers == std::vector<double>{815184000e6, 817776000e6 - 1});
  CHECK(Parsed("released:1990..1999").root.numbers == std::vector<double>{631152000e6, 946684800e6 - 1});
  CHECK(Parsed("released > 1995-11-22").root.numbers[0] == Approx(817084800e6).margin(0.1));
  CHECK(Parsed("released:\"1990-01-01\"..\"1999-12-31\"").root.numbers ==
        std::vector<double>{631152000e6, 946684800e6 - 1});
}

TEST_CASE("Errors point at the column and name the remedy") {
  const std::pair<std::string, std::string> cases[] = {
      {"price >= yaer", "filter, column 10: 'yaer' is no number; field 'price' is FLOATING (price = 1995)"},
      {"genres = \"Drama\" AND yaer > 1990",
       "filter, column 22: field 'yaer' is not in the schema; did you mean 'year'?"},
      {"colour = 3",
       "filter, column 1: field 'colour' is not in the schema; there are 'genres', 'year', 'price', "
       "'in_stock', "
       "'released', 'shelf life'"},
      {"title = \"Toy Story\"",
       "filter, column 1: field 'title' is TEXT, which the query searches and filters do not compare; "
       "declare "
       "it, or a copy of it, as KEYWORD to filter by it"},
      {"maker:*",
       "filter, column 1: field 'maker' is OBJECT, kept and returned only; lift what you filter by into a "
       "field "
       "of its own"},
      {"secret = 1", "filter, column 1: field 'secret' is not filterable; declare it with filterable = true"},
      {"genres < \"Drama\"",
       "filter, column 8: field 'genres' is KEYWORD, which has no order; it takes = != : and IN"},
      {"year", "filter, column 5: field 'year' needs an operator here: one of = != < <= > >= : IN"},
      {"comedy",
       "filter, column 1: 'comedy' stands alone; write field = value (words that items are searched by "
       "belong "
       "into the query)"},
      {"year = 1 and year = 2", "filter, column 10: write AND in capitals"},
      {"AND year = 1", "filter, column 1: a comparison (field = value) should stand where AND is"},
      {"year = 1 AND", "filter, column 13: the filter ends where a comparison should begin (field = value)"},
      {"year =", "filter, column 7: the filter ends where a value should be"},
      {"year = )",
       "filter, column 8: ')' stands where a value should be; put text with such characters in quotes"},
      {"(year = 1", "filter, column 1: this parenthesis is not closed; add )"},
      {"year = 1)", "filter, column 9: this parenthesis closes nothing; take it out"},
      {"genres = \"Dra", "filter, column 10: the text that begins here is not closed; end it with \""},
      {"genres = \"a\\q\"",
       "filter, column 12: this escape is not known; there are \\\\ \\\" \\' \\n \\t and \\u1234"},
      {"genres IN Drama", "filter, column 11: IN takes a list in parentheses: genres IN (\"a\", \"b\")"},
      {"genres IN (Drama War)", "filter, column 18: the list of IN goes on with a comma or ends with )"},
      {"year = 1990..1999",
       "filter, column 8: '1990..1999' is no number; field 'year' is INTEGER (ranges are written "
       "year:1990..1999)"},
      {"year:1999..1990", "filter, column 6: the range ends before it begins; swap its ends"},
      {"year:1990..x", "filter, column 12: 'x' is no number; field 'year' is INTEGER (year = 1995)"},
      {"year:..", "filter, column 6: a range needs at least one end, as in 1990.. or ..1999"},
      {"in_stock = yes",
       "filter, column 12: 'yes' is no boolean; field 'in_stock' is BOOLEAN (in_stock = true)"},
      {"released = 1995-02-30",
       "filter, column 12: '1995-02-30' is no time; field 'released' is TIME (released >= "
       "\"1995-11-22T00:00:00Z\", released = 1995-11-22, released:1990..1999)"},
      {"genres = *",
       "filter, column 10: '*' asks whether a field is there and goes with ':' (genres:*); put it in quotes "
       "to "
       "compare with it"},
      // Columns count characters: both of «é» bytes are one.
      {"genres = \"\xC3\xA9\" AND yaer = 1",
       "filter, column 18: field 'yaer' is not in the schema; did you mean 'year'?"},
      {"year = nan", "filter, column 8: 'nan' is no number; field 'year' is INTEGER (year = 1995)"},
      {"year = 1 \xFF", "filter: it is no valid UTF-8"},
  };
  for (const auto& [text, message] : cases) CHECK(ErrorOf(text) == message);
}

TEST_CASE("A schema without fields to filter by says so") {
  CHECK(ParseFilter("year = 1", Schema()).status().message() ==
        "filter, column 1: field 'year' is not in the schema; it has no fields to filter by yet");
}

TEST_CASE("A schema that is full says that a field has to be declared") {
  std::string row = "{";
  for (int i = 0; i < 300; ++i)
    row += (i > 0 ? ",\"f" : "\"f") + std::to_string(i) + "\": " + std::to_string(i);
  bool changed = false;
  const Schema full = Schema().ExtendedBy(tests::Fields(row + "}"), &changed);
  CHECK(full.record().fields_size() == 256);
  CHECK_THAT(
      std::string(ParseFilter("colour = 1", full).status().message()),
      Catch::EndsWith(
          "256 fields were found in the data, and no more are: a field beyond them has to be declared"));
}

TEST_CASE("Filters are bounded in terms, depth and length") {
  std::string many = "year IN (1";
  for (int i = 1; i < 1000; ++i) many += ",1";
  CHECK(ErrorOf(many + ")") == "no error");
  CHECK(ErrorOf(many + ",1)") == "filter, column 2010: more than 1000 values; split the filter");

  const auto nested = [](size_t depth) {
    return std::string(depth, '(') + "year = 1" + std::string(depth, ')');
  };
  CHECK(ErrorOf(nested(50)) == "no error");
  CHECK(ErrorOf(nested(51)) == "filter, column 51: parentheses are nested deeper than 50");
  CHECK(ErrorOf(nested(5000)) == "filter, column 51: parentheses are nested deeper than 50");

  CHECK(ErrorOf("genres = " + std::string(10240 - 9, 'x')) == "no error");
  CHECK(ErrorOf("genres = " + std::string(10241 - 9, 'x')) == "filter: 10241 bytes; at most 10240 are taken");
}

}  // namespace
}  // namespace waymark
