// What queries find: compounds, languages by field, slop, boosts, fields, conditions, fewer words than asked
// for, words that are split and joined.
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "index/field_analyzers.h"
#include "index/highlighter.h"
#include "index/query_parser.h"
#include "tests/index/indexed_collection.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

using Ids = std::vector<std::string>;

struct Shop : IndexedCollection {
  explicit Shop(const std::string& schema) { DeclareJson(schema); }
  void DeclareJson(const std::string& json) {
    storage::SchemaRecord schema;
    REQUIRE(google::protobuf::util::JsonStringToMessage(json, &schema).ok());
    schema.set_declared(true);
    const absl::Status status = catalog->DeclareSchema(schema);
    INFO(status);
    REQUIRE(status.ok());
  }
  // Sorted.
  Ids All(const std::string& query, bool match_all = false) const {
    Ids ids = Search(query, 100, match_all);
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  KeywordHits Relaxed(const std::string& query, int64_t below, const char* minimum = "") const {
    KeywordQuery asked{.query = query};
    asked.match_all = *minimum == 0;
    asked.minimum = *MinimumMatch::Parse(minimum);
    asked.relax_below = below;
    return Find(asked, 10);
  }
  Ids IdsOf(const KeywordHits& hits) const {
    std::vector<ItemOrdinal> items;
    for (const ScoredItem& hit : hits.items) items.push_back(hit.item);
    return store->ItemIds(scope, items);
  }
};

constexpr char kStandard[] =
    R"({"language": "english", "analyzer": "standard", "removeStopWords": true, "fields": [
  {"name": "title", "type": "TEXT", "searchable": true, "title": true}]})";

TEST_CASE("a compound finds what is written together, apart and with a hyphen") {
  Shop shop(kStandard);
  shop.PutAll({{"hyphen", {{"title", "wi-fi router"}}},
               {"one", {{"title", "wifi router"}}},
               {"two", {{"title", "wi fi router"}}},
               {"none", {{"title", "router with cable"}}}});
  shop.CatchUp();
  CHECK(shop.All("wi-fi") == Ids{"hyphen", "one", "two"});
  CHECK(shop.All("+wi-fi") == Ids{"hyphen", "one", "two"});
  CHECK(shop.All("wi-fi", true) == Ids{"hyphen", "one", "two"});
  CHECK(shop.All("wifi") == Ids{"hyphen", "one"});
  CHECK(shop.All("wi fi", true) == Ids{"hyphen", "one", "two"});  // the one word is the two joined
  CHECK(shop.All("router -wi-fi") == Ids{"none"});
  CHECK(shop.All("\"wi-fi router\"") == Ids{"hyphen", "one", "two"});
  CHECK(shop.All("wi-fi AND cable").empty());
}

TEST_CASE("part numbers, numbers with units and names with signs are found as people write them") {
  Shop shop(kStandard);
  shop.PutAll({{"phone", {{"title", "Apple iPhone15 black"}}},
               {"spaced", {{"title", "Apple iPhone 15 white"}}},
               {"older", {{"title", "Apple iPhone14"}}},
               {"jack", {{"title", "3.5mm jack"}}},
               {"film", {{"title", "35mm film"}}},
               {"part", {{"title", "Gasket AB-1234/7"}}},
               {"other", {{"title", "Gasket AB-1234/8"}}},
               {"c", {{"title", "C for beginners"}}},
               {"cpp", {{"title", "C++ for beginners"}}},
               {"cs", {{"title", "C# for beginners"}}}});
  shop.CatchUp();
  CHECK(shop.All("iphone15") == Ids{"phone", "spaced"});
  CHECK(shop.All("iphone 15", true) == Ids{"phone", "spaced"});
  CHECK(shop.All("IPHONE-15") == Ids{"phone", "spaced"});
  CHECK(shop.All("3.5mm") == Ids{"jack"});
  CHECK(shop.All("3.5 mm", true) == Ids{"jack"});
  CHECK(shop.All("3.5") == Ids{"jack"});
  for (const char* part : {"AB-1234/7", "ab1234/7", "AB12347", "ab-1234-7", "ab 1234 7"}) {
    INFO(part);
    CHECK(shop.All(part, true) == Ids{"part"});
  }
  CHECK(shop.All("c++") == Ids{"cpp"});
  CHECK(shop.All("C#") == Ids{"cs"});
  CHECK(shop.All("+c") == Ids{"c"});
}

TEST_CASE("the very form goes before another one of its stem") {
  Shop shop(kStandard);
  shop.PutAll({{"run", {{"title", "run far"}}},
               {"runs", {{"title", "runs far"}}},
               {"running", {{"title", "running far"}}}});
  shop.CatchUp();
  CHECK(shop.Search("running", 1) == Ids{"running"});
  CHECK(shop.Search("runs", 1) == Ids{"runs"});
  CHECK(shop.All("runs") == Ids{"run", "running", "runs"});
  CHECK(shop.All("+runs +far") == Ids{"run", "running", "runs"});
  CHECK(shop.Search("runs far", 1, true) == Ids{"runs"});
  // What ranks and what signals say is the same.
  const KeywordHits hits = shop.Find({.query = "running far"}, 3);
  for (const ScoredItem& hit : hits.items) {
    const SignalValues signals = shop.Signals("running far", shop.store->ItemIds(shop.scope, {hit.item})[0]);
    CHECK(Get(signals, Signal::kKeywordScore) == hit.score);
    CHECK(Get(signals, Signal::kKeywordCoverage) == 1);
  }
  // Beginnings are compared with whole words, too.
  CHECK(shop.All("runn*") == Ids{"running"});
}

TEST_CASE("exact forms count for no length and lead to no correction") {
  Shop shop(kStandard);
  shop.PutAll({{"a", {{"title", "generals"}}}, {"b", {{"title", "gener"}}}});
  shop.CatchUp();
  const KeywordHits hits = shop.Find({.query = "gener"}, 2);
  REQUIRE(hits.items.size() == 2);
  // One word each: the stem's score is the same, and b has the very form, which is its stem.
  CHECK(hits.items[0].score == hits.items[1].score);
  CHECK(shop.index->CorrectQuery("generlas", TypoTolerance::kAuto, Deadline::Never()) == "generals");
}

TEST_CASE("Chinese and Japanese are found by any pair, and by one character") {
  Shop shop(kStandard);
  shop.PutAll({{"tokyo", {{"title", "東京物語"}}},
               {"kyoto", {{"title", "京都の秋"}}},
               {"mixed", {{"title", "Tokyo東京Story"}}}});
  shop.CatchUp();
  CHECK(shop.All("東京") == Ids{"mixed", "tokyo"});
  CHECK(shop.All("京都") == Ids{"kyoto"});
  CHECK(shop.All("東京都").empty());  // not Kyoto
  CHECK(shop.All("京") == Ids{"kyoto", "mixed", "tokyo"});
  CHECK(shop.All("\"東京物語\"") == Ids{"tokyo"});
  CHECK(shop.All("東京物語を見ました") == Ids{"mixed", "tokyo"});
  auto made = shop.index->MakeHighlighter("東京物語", TypoTolerance::kAuto, {}, Deadline::Never());
  REQUIRE(made.ok());
  const auto item = shop.store->GetItems(shop.scope, {shop.Item("tokyo")});
  const auto found = (*made)->Highlight(*item[0]);
  REQUIRE(found.size() == 1);
  CHECK(found[0].snippet == "<mark>東京物語</mark>");
}

constexpr char kLanguages[] = R"({"language": "english", "stemmer": "porter", "fields": [
  {"name": "title", "type": "TEXT", "searchable": true, "title": true},
  {"name": "titel", "type": "TEXT", "searchable": true, "language": "german", "removeStopWords": true},
  {"name": "code", "type": "KEYWORD", "searchable": true, "stemmer": "none"}]})";

TEST_CASE("each field's words are of its own language") {
  Shop shop(kLanguages);
  shop.PutAll({{"houses", {{"title", "old houses"}, {"titel", "Alte Häuser"}, {"code", "houses"}}},
               {"die", {{"title", "die hard"}, {"titel", "Die Rache"}, {"code", "run"}}},
               {"runner", {{"title", "the runner"}, {"titel", "Läufer"}, {"code", "running"}}}});
  shop.CatchUp();
  CHECK(shop.All("house") == Ids{"houses"});         // by the English stem
  CHECK(shop.All("Hauses") == Ids{"houses"});        // by the German one
  CHECK(shop.All("haeuser") == Ids{"houses"});       // as who has no ä types it
  CHECK(shop.All("die") == Ids{"die"});              // no stop word in English
  CHECK(shop.All("titel:die").empty());              // but in German
  CHECK(shop.All("code:running") == Ids{"runner"});  // as it is
  CHECK(shop.All("code:run") == Ids{"die"});
  CHECK(shop.All("running") == Ids{"runner"});  // «run» of the code is another word than its stem
  CHECK(shop.All("house Läufers") == Ids{"houses", "runner"});
  CHECK(shop.All("+old +hauses") == Ids{"houses"});  // in whichever field
  CHECK(shop.All("\"alte häuser\"") == Ids{"houses"});
  CHECK(shop.All("old -hauses").empty());
  // A typing error in either language.
  CHECK(shop.All("houzes") == Ids{"houses"});
  CHECK(shop.All("Läufre") == Ids{"runner"});
  const SignalValues signals = shop.Signals("hauses", "houses");
  CHECK(Get(signals, Signal::kKeywordScore) == shop.Find({.query = "hauses"}, 1).items[0].score);
  CHECK(Get(signals, Signal::kKeywordCoverage) == 1);
  auto made = shop.index->MakeHighlighter("Hauses", TypoTolerance::kAuto, {}, Deadline::Never());
  const auto item = shop.store->GetItems(shop.scope, {shop.Item("houses")});
  CHECK((*made)->Highlight(*item[0])[0].snippet == "Alte <mark>Häuser</mark>");
}

TEST_CASE("another analysis of a field rebuilds the index, and survives a restart") {
  Shop shop(kLanguages);
  shop.PutAll({{"a", {{"title", "houses"}, {"titel", "Häuser"}}}});
  shop.CatchUp();
  CHECK(shop.All("titel:hauses") == Ids{"a"});
  REQUIRE(shop.index->Commit().ok());
  shop.Reopen();
  CHECK(shop.index->status().rebuild_reason.empty());
  CHECK(shop.All("titel:hauses") == Ids{"a"});
  shop.DeclareJson(R"({"language": "english", "fields": [
    {"name": "title", "type": "TEXT", "searchable": true, "title": true},
    {"name": "titel", "type": "TEXT", "searchable": true, "language": "none"},
    {"name": "code", "type": "KEYWORD", "searchable": true}]})");
  shop.CatchUp();
  CHECK(shop.index->status().rebuild_reason.find("text analysis changed") != std::string::npos);
  CHECK(shop.All("titel:hauses").empty());
  CHECK(shop.All("titel:häuser") == Ids{"a"});
}

struct Films : Shop {
  Films()
      : Shop(R"({"language": "none", "fields": [
          {"name": "title", "type": "TEXT", "searchable": true, "title": true},
          {"name": "text", "type": "TEXT", "searchable": true},
          {"name": "year", "type": "INTEGER", "filterable": true},
          {"name": "genres", "type": "KEYWORD", "filterable": true}]})") {
    const auto put = [&](const std::string& id, const std::string& title, const std::string& text, int year,
                         const std::string& genre) {
      google::protobuf::Struct fields = StructOf({{"title", title}, {"text", text}, {"genres", genre}});
      (*fields.mutable_fields())["year"].set_number_value(year);
      Write({PutItem{id, fields}});
    };
    put("wars", "star wars", "a long time ago in a galaxy far away", 1977, "Science Fiction");
    put("trek", "star trek", "the wars of a ship among stars", 1979, "Science Fiction");
    put("born", "a star is born", "a singer falls in love", 1976, "Drama");
    put("heist", "heist", "a galaxy of thieves far from home", 2001, "Crime");
    CatchUp();
  }
};

TEST_CASE("slop lets words stand apart, and in the other order") {
  Films films;
  CHECK(films.All("\"galaxy away\"").empty());
  CHECK(films.All("\"galaxy away\"~1") == Ids{"wars"});
  CHECK(films.All("\"away galaxy\"~2").empty());  // three places from where it should be
  CHECK(films.All("\"away galaxy\"~3") == Ids{"wars"});
  CHECK(films.All("\"galaxy far\"~5") == Ids{"heist", "wars"});
  CHECK(films.Search("\"galaxy far\"~5", 1) == Ids{"wars"});  // nearer
  CHECK(films.All("\"star star\"~50").empty());               // two places, not one twice
  CHECK(films.All("star -\"star born\"~1") == Ids{"trek", "wars"});
  CHECK(films.All("\"star wars\"~999999999999") == Ids{"wars"});
}

TEST_CASE("a boost makes a word count for more, whatever it is on") {
  Films films;
  CHECK(films.Search("wars trek^5", 1) == Ids{"trek"});
  CHECK(films.Search("born^0.01 singer^0 heist", 1) == Ids{"heist"});
  const float once = films.Find({.query = "heist"}, 1).items[0].score;
  CHECK(films.Find({.query = "heist^2"}, 1).items[0].score == Approx(2 * once));
  CHECK(films.Find({.query = "(heist)^3"}, 1).items[0].score == Approx(3 * once));
  CHECK(films.Find({.query = "(heist^2 nothing)^3"}, 1).items[0].score == Approx(6 * once));
  CHECK(films.Find({.query = "heist^1000"}, 1).items[0].score == Approx(100 * once));
  CHECK(films.Find({.query = "\"star wars\"^2"}, 1).items[0].score ==
        Approx(2 * films.Find({.query = "\"star wars\""}, 1).items[0].score));
  CHECK(films.All("x^2y ^2 2^ heist^q") == Ids{"heist"});  // signs like others
}

TEST_CASE("a field is named before what is looked for in it") {
  Films films;
  CHECK(films.All("title:wars") == Ids{"wars"});
  CHECK(films.All("text:wars") == Ids{"trek"});
  CHECK(films.All("text:\"galaxy far\"") == Ids{"wars"});
  CHECK(films.All("title:(wars OR trek)") == Ids{"trek", "wars"});
  CHECK(films.All("+star -title:trek") == Ids{"born", "wars"});
  CHECK(films.All("title:war*") == Ids{"wars"});
  CHECK(films.All("title:wras") == Ids{"wars"});
  CHECK(films.All("title:wars^3 text:wars") == Ids{"trek", "wars"});
  CHECK(films.Search("title:wars^3 text:wars", 1) == Ids{"wars"});
  CHECK(films.All("nowhere:wars") == Ids{"trek", "wars"});  // no field: two words
  CHECK(films.All("title: wars") == films.All("title wars"));
}

TEST_CASE("conditions on fields that are filtered hold beside the words") {
  Films films;
  CHECK(films.All("star year:1977..1980") == Ids{"trek", "wars"});
  CHECK(films.All("star year:>=1979") == Ids{"trek"});
  CHECK(films.All("star -year:1977") == Ids{"born", "trek"});
  CHECK(films.All("genres:\"science fiction\"") == Ids{"trek", "wars"});
  CHECK(films.All("galaxy genres:crime") == Ids{"heist"});
  CHECK(films.All("heist OR year:1976") == Ids{"born", "heist"});
  CHECK(films.All("year:1976..1977 year:1977..1990") == Ids{"wars"});
  CHECK(films.All("nothing year:1977").empty());
  CHECK(films.All("star year:soon..later") == Ids{"born", "trek", "wars"});  // no years: words
}

TEST_CASE("a query may ask for some of its words") {
  Films films;
  const auto found = [&](const std::string& query, const char* minimum) {
    KeywordQuery asked{.query = query};
    asked.minimum = *MinimumMatch::Parse(minimum);
    Ids ids = films.IdsOf(films.Find(asked, 10));
    std::sort(ids.begin(), ids.end());
    return ids;
  };
  CHECK(found("star wars galaxy", "2") == Ids{"trek", "wars"});
  CHECK(found("star wars galaxy", "3") == Ids{"wars"});
  CHECK(found("star wars galaxy", "70%") == Ids{"trek", "wars"});
  CHECK(found("star wars galaxy", "-1") == Ids{"trek", "wars"});
  CHECK(found("star wars galaxy", "-100%") == Ids{"born", "heist", "trek", "wars"});
  CHECK(found("star wars galaxy -trek", "2") == Ids{"wars"});
  CHECK(found("star \"far away\" love", "2") == Ids{"born", "wars"});
  for (const char* bad : {"x", "%", "101%", "2.5", "--1", "1001"}) {
    CHECK(std::string(MinimumMatch::Parse(bad).status().message()).starts_with("minimum_match: is '"));
  }
}

TEST_CASE("with too few hits words are left out, and named") {
  Films films;
  CHECK(films.Relaxed("star wars", 0).left_out.empty());
  // What nothing holds goes first.
  const KeywordHits unknown = films.Relaxed("star qqqqq wars", 1);
  CHECK(unknown.left_out == Ids{"qqqqq"});
  CHECK(films.IdsOf(unknown).size() == 2);
  // Then what most hold: three have «star».
  const KeywordHits relaxed = films.Relaxed("star thieves", 1);
  CHECK(relaxed.left_out == Ids{"star"});
  CHECK(films.IdsOf(relaxed) == Ids{"heist"});
  // Enough is enough, and one word stays.
  CHECK(films.Relaxed("star wars", 2).left_out.empty());
  CHECK(films.Relaxed("star wars", 3).left_out == Ids{"star"});
  CHECK(films.Relaxed("heist", 10).left_out.empty());
  const KeywordHits some = films.Relaxed("star wars thieves qqqqq", 2, "3");
  // Nothing holds three of the others, nor «wars» and «thieves».
  CHECK(some.left_out == Ids{"qqqqq", "star", "wars"});
  CHECK(films.IdsOf(some) == Ids{"heist"});
  KeywordQuery at_least{.query = "a", .total = TotalCount::kAtLeast};
  at_least.relax_below = 1;
  CHECK(films.index->Search(at_least, 1, Deadline::Never()).status().message() ==
        "relax_below needs an exact total");
}

TEST_CASE("two words that were written as one are found, and one that was written as two") {
  Shop shop(R"({"language": "english", "fields": [
    {"name": "title", "type": "TEXT", "searchable": true, "title": true}]})");
  shop.PutAll({{"wars", {{"title", "Star Wars"}}},
               {"shelf", {{"title", "a bookshelf of oak"}}},
               {"book", {{"title", "the book on the shelf"}}},
               {"star", {{"title", "a star of the theatre"}}}});
  shop.CatchUp();
  CHECK(shop.All("starwars") == Ids{"wars"});
  CHECK(shop.All("+starwars") == Ids{"wars"});
  CHECK(shop.index->CorrectQuery("StarWars!", TypoTolerance::kAuto, Deadline::Never()) == "star wars!");
  CHECK(shop.All("book shelf") == Ids{"book", "shelf"});
  CHECK(shop.All("book shelf", true) == Ids{"book", "shelf"});
  CHECK(shop.All("starbook").empty());  // nobody has these side by side
  CHECK(shop.IdsOf(shop.Find({.query = "starwars", .typos = TypoTolerance::kOff})).empty());
  CHECK(shop.All("\"starwars\"").empty());
  const SignalValues signals = shop.Signals("starwars", "wars");
  CHECK(Get(signals, Signal::kKeywordScore) == shop.Find({.query = "starwars"}, 1).items[0].score);
  CHECK(Get(signals, Signal::kKeywordCoverage) == 1);
  CHECK(Get(shop.Signals("book shelf", "shelf"), Signal::kKeywordScore) > 0);
}

TEST_CASE("whatever people type gives hits or none") {
  Films films;
  Shop standard(kStandard);
  standard.PutAll({{"a", {{"title", "star wars c++ 東京"}}}});
  standard.CatchUp();
  std::string many, deep = std::string(5000, '(') + "star" + std::string(5000, ')');
  for (int i = 0; i < 1800; ++i) absl::StrAppend(&many, "w", i, " ");
  for (const std::string& text : std::vector<std::string>{many,
                                                          deep,
                                                          std::string(10'240, '.'),
                                                          std::string(10'240, '"'),
                                                          std::string(10'240, '('),
                                                          std::string(5'120, 'a') + "~2",
                                                          "\"star",
                                                          "star\"",
                                                          "((star",
                                                          "star))",
                                                          "title:",
                                                          "title:(",
                                                          "title:\"",
                                                          "year:..",
                                                          "year:",
                                                          ":",
                                                          "a:b:c",
                                                          "^",
                                                          "^^2",
                                                          "~~",
                                                          "\"\"~3^2",
                                                          "()^2",
                                                          "title:()",
                                                          "+title:-star",
                                                          "שלום מרחבא مرحبا star",
                                                          "⭐👩‍👩‍👧 star 🏳️‍🌈",
                                                          "\u202Estar\u202C",
                                                          "NOT",
                                                          "AND OR",
                                                          "star AND",
                                                          "-",
                                                          "+-+-",
                                                          "\xFF\xFE star",
                                                          std::string("st\0ar", 5),
                                                          "year:1e999..",
                                                          "year:\"",
                                                          "star^1e9",
                                                          "\"star wars\"~~3"}) {
    for (const bool all : {false, true}) {
      for (const Shop* shop : {static_cast<const Shop*>(&films), static_cast<const Shop*>(&standard)}) {
        KeywordQuery query{.query = text};
        query.match_all = all;
        INFO(text.substr(0, 60));
        CHECK(shop->index->Search(query, 10, Deadline::Never()).ok());
        shop->index->CorrectQuery(text, TypoTolerance::kAlways, Deadline::Never());
      }
    }
  }
  KeywordQuery long_query{.query = std::string(10'241, 'a')};
  CHECK(films.index->Search(long_query, 10, Deadline::Never()).status() ==
        absl::InvalidArgumentError("query has 10241 bytes; it takes at most 10240"));
  CHECK(films.All(deep) == Ids{"born", "trek", "wars"});
}

}  // namespace
}  // namespace waymark::tests
