// The examples of docs/queries.md, read from the page: one that is added there and not here fails.
#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "tests/index/indexed_collection.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

using Ids = std::set<std::string>;

std::string Page() {
  std::ifstream file(std::string(WAYMARK_SOURCE_DIR) + "/docs/queries.md");
  std::string text;
  std::getline(file, text, '\0');
  REQUIRE(!text.empty());
  return text;
}

std::vector<std::string> InBackquotes(const std::string& text) {
  static const std::regex kQuoted("`([^`]+)`");
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), kQuoted), end; it != end; ++it)
    found.push_back((*it)[1]);
  return found;
}

// The cells of a table's rows behind its head.
std::vector<std::vector<std::string>> Table(const std::string& page, const std::string& head) {
  size_t at = page.find(head);
  INFO(head);
  REQUIRE(at != std::string::npos);
  std::vector<std::vector<std::string>> rows;
  at = page.find('\n', page.find('\n', at) + 1) + 1;
  while (page[at] == '|') {
    const size_t end = page.find('\n', at);
    std::vector<std::string>& cells = rows.emplace_back();
    for (size_t cell = at + 1, bar; cell < end; cell = bar + 1) {
      bar = page.find('|', cell);
      cells.push_back(page.substr(cell, bar - cell));
    }
    at = end + 1;
  }
  return rows;
}

struct Films : IndexedCollection {
  Films() {
    storage::SchemaRecord schema;
    schema.set_declared(true);
    schema.set_language("none");
    const auto field = [&](const char* name, storage::FieldRecord::Type type, bool searched) {
      storage::FieldRecord* made = schema.add_fields();
      made->set_name(name);
      made->set_type(type);
      made->set_searchable(searched);
      made->set_filterable(!searched);
    };
    field("title", storage::FieldRecord::TEXT, true);
    field("text", storage::FieldRecord::TEXT, true);
    field("year", storage::FieldRecord::INTEGER, false);
    field("genres", storage::FieldRecord::KEYWORD, false);
    REQUIRE(catalog->DeclareSchema(schema).ok());
    const auto put = [&](const char* id, const char* title, const char* text, int year, const char* genre) {
      google::protobuf::Struct fields = StructOf({{"title", title}, {"text", text}, {"genres", genre}});
      (*fields.mutable_fields())["year"].set_number_value(year);
      Write({PutItem{id, fields}});
    };
    put("wars", "star wars", "a galaxy far away, the death star, a jedi", 1977, "fantasy");
    put("trek", "star trek", "generations of a ship", 1979, "fantasy");
    put("death", "death of a star", "letters received", 1976, "crime");
    put("war", "world at war", "wars of the world", 1990, "history");
    CatchUp();
  }
  Ids Finds(const std::string& query) const {
    const auto found = Search(query, 100);
    return {found.begin(), found.end()};
  }
};

TEST_CASE("every example of the table of docs/queries.md finds what it says") {
  const std::map<std::string, Ids> expected = {
      {"star wars", {"wars", "trek", "death", "war"}},
      {"\"death star\"", {"wars"}},
      {"+star +wars", {"wars"}},
      {"star -trek", {"wars", "death"}},
      {"star NOT trek", {"wars", "death"}},
      {"star AND (wars OR trek)", {"wars", "trek"}},
      {"star -\"star trek\" +(wars OR jedi)", {"wars", "war"}},
      {"recieve~", {}},
      {"wra~2", {"wars", "trek", "death", "war"}},  // «a» is two letters less
      {"gener*", {"trek"}},
      {"\"wars\"", {"wars", "war"}},
      {"wars~0", {"wars", "war"}},
      {"\"galaxy away\"~1", {"wars"}},
      {"\"away galaxy\"~3", {"wars"}},
      {"wars trek^5", {"wars", "trek", "war"}},
      {"title:wars", {"wars"}},
      {"title:(wars OR trek)", {"wars", "trek"}},
      {"star year:1977..1980", {"wars", "trek"}},
      {"star year:>=1979", {"trek"}},
      {"star genres:crime", {"death"}},
  };
  Films films;
  size_t examples = 0;
  for (const auto& row : Table(Page(), "| written | finds |")) {
    for (const std::string& example : InBackquotes(row[0])) {
      INFO(example);
      const auto known = expected.find(example);
      if (example == "+star wars") continue;  // «star» alone is wanted: below
      REQUIRE(known != expected.end());
      CHECK(films.Finds(example) == known->second);
      ++examples;
    }
  }
  CHECK(examples >= 18);
  CHECK(films.Finds("+star wars") == films.Finds("+star"));
  CHECK(films.Search("+star wars", 1) == std::vector<std::string>{"wars"});
  CHECK(films.Search("wars trek^5", 1) == std::vector<std::string>{"trek"});
  CHECK(films.Search("star wars", 1) == std::vector<std::string>{"wars"});
  CHECK(films.Finds("letters recieved~") == Ids{"death"});
}

TEST_CASE("queries that docs/queries.md says are the same find the same") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  std::vector<std::pair<std::string, TextFields>> items;
  for (unsigned held = 0; held < 16; ++held) {
    std::string text = "x";
    for (unsigned word = 0; word < 4; ++word) {
      if ((held >> word & 1) != 0) text += std::string(" ") + "abcd"[word];
    }
    items.push_back({std::to_string(held), {{"title", text}}});
  }
  shop.PutAll(items);
  shop.CatchUp();
  const std::string page = Page();
  static const std::regex kSame("`([^`]+)`\\s+is\\s+`([^`]+)`([^.,]*)");
  size_t pairs = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), kSame), end; it != end; ++it) {
    std::string is = (*it)[2];
    for (const std::string& without : InBackquotes((*it)[3])) is += " -" + without;
    INFO((*it)[0]);
    CHECK(shop.Search((*it)[1], 100) == shop.Search(is, 100));
    CHECK(!shop.Search(is, 100).empty());
    ++pairs;
  }
  CHECK(pairs >= 3);
}

TEST_CASE("what docs/queries.md says of the standard analysis is found so") {
  const auto rows = Table(Page(), "| text | is found by |");
  CHECK(rows.size() >= 10);
  for (const auto& row : rows) {
    IndexedCollection shop;
    storage::SchemaRecord schema;
    schema.set_declared(true);
    schema.set_language("english");
    schema.set_analyzer("standard");
    storage::FieldRecord* field = schema.add_fields();
    field->set_name("title");
    field->set_type(storage::FieldRecord::TEXT);
    field->set_searchable(true);
    REQUIRE(shop.catalog->DeclareSchema(schema).ok());
    const auto texts = InBackquotes(row[0]);
    REQUIRE(texts.size() == 1);
    shop.PutAll({{"it", {{"title", texts[0]}}}, {"other", {{"title", "something else"}}}});
    shop.CatchUp();
    const size_t open = row[1].find("(not ");
    for (const std::string& query : InBackquotes(row[1].substr(0, open))) {
      INFO(texts[0] << " by " << query);
      CHECK(shop.Search(query, 10, /*match_all=*/true) == std::vector<std::string>{"it"});
    }
    if (open == std::string::npos) continue;
    for (const std::string& query : InBackquotes(row[1].substr(open))) {
      INFO(texts[0] << " by " << query);
      CHECK(shop.Search(query, 10).empty());
    }
  }
}

}  // namespace
}  // namespace waymark::tests
