// What queries find: slop, boosts, fields, conditions, fewer words than asked for, and whatever people type.
#include "absl/strings/str_cat.h"
#include "tests/index/shop.h"

namespace waymark::tests {
namespace {

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
  // However few are to be counted.
  KeywordQuery uncounted{.query = "star thieves", .match_all = true, .count_up_to = kCountNone};
  uncounted.relax_below = 2;
  CHECK(films.index->Search(uncounted, 1, Deadline::Never())->left_out == Ids{"star"});
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
