// What words of a query find: compounds and part numbers, exact forms, languages by field, CJK, words that
// are split and joined.
#include "index/highlighter.h"
#include "tests/index/shop.h"

namespace waymark::tests {
namespace {

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

}  // namespace
}  // namespace waymark::tests
