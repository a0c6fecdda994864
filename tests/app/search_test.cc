#include "tests/app/program.h"

namespace waymark {
namespace {

using tests::kFilms;
using tests::Ran;
using tests::Sandbox;

std::vector<std::string> Ids(const nlohmann::json& answer) {
  std::vector<std::string> ids;
  for (const auto& result : answer["results"]) ids.push_back(result["item"]["id"]);
  return ids;
}

TEST_CASE("a search prints a table for people and one document for programs") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  const Ran table = sandbox.Run({"search", "star wars", "--data", "d"});
  CHECK(table.code == 0);
  CHECK_THAT(table.out, Catch::Contains("2 items") && Catch::Contains("Star Wars") &&
                            Catch::Contains("keyword#1") && Catch::Contains("release none"));
  const auto answer = sandbox.Json({"search", "star wars", "--data", "d"});
  CHECK(Ids(answer) == std::vector<std::string>{"1", "4"});
  CHECK(answer["total_size"] == "2");
  CHECK(Ids(sandbox.Json({"search", "star", "--data", "d", "--filter", "year < 1960"})) ==
        std::vector<std::string>{"4"});
  CHECK(Ids(sandbox.Json({"search", "star wars", "--data", "d", "--all-words"})) ==
        std::vector<std::string>{"1"});
  CHECK(sandbox.Json({"search", "the of", "--data", "d"})["results"].empty());
}

TEST_CASE("where events were imported and items never, an empty answer says what is missing") {
  Sandbox sandbox;
  REQUIRE(sandbox
              .Run({"import", "events", "-", "--data", "d"},
                   R"({"type":"view","user_id":"u","item_id":"1","time":1000000000})")
              .code == 0);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"recommend", "--user", "u", "--data", "d"}, {"search", "star", "--data", "d"}}) {
    const Ran ran = sandbox.Run(command);
    CHECK(ran.code == 0);
    CHECK_THAT(ran.out, Catch::Contains("there are no items in tenants/default/collections/default") &&
                            Catch::Contains("`waymark import items FILE` brings them"));
  }
  // Nothing of the sort where there are some.
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  CHECK_THAT(sandbox.Run({"search", "nowhere", "--data", "d"}).out,
             Catch::Contains("0 items") && !Catch::Contains("import items"));
}

TEST_CASE("misspelled words find what is meant, unless they shall not") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  const auto answer = sandbox.Json({"search", "twleve monkees", "--data", "d"});
  CHECK(Ids(answer) == std::vector<std::string>{"3"});
  CHECK(answer["corrected_query"] == "twelve monkeys");
  CHECK_THAT(sandbox.Run({"search", "twleve", "--data", "d"}).out, Catch::Contains("did you mean: twelve\n"));
  CHECK(sandbox.Json({"search", "twleve", "--data", "d", "--typo-tolerance", "off"})["results"].empty());
  CHECK(Ids(sandbox.Json({"search", "mon*", "--data", "d", "--typo-tolerance", "off"})) ==
        std::vector<std::string>{"3"});
  CHECK(Ids(sandbox.Json({"search", "heta", "--data", "d", "--typo-tolerance", "always"})) ==
        std::vector<std::string>{"5"});
  const Ran ran = sandbox.Run({"search", "heat", "--data", "d", "--typo-tolerance", "some"});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, Catch::Contains("--typo-tolerance"));
}

TEST_CASE("facets are tables of their own, by value and by range") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  const Ran table =
      sandbox.Run({"search", "--data", "d", "--facet", "genres:2", "--facet", "year:..1980,1980..1990"});
  INFO(table.err);
  CHECK(table.code == 0);
  CHECK_THAT(table.out,
             Catch::Contains("genres      items\nAction          2\nSci-Fi          2\n(3 others)      3\n"));
  CHECK_THAT(table.out,
             Catch::Contains("..1980             2\n1980..1990         0\n(in no range)      3\n"));
  const auto answer = sandbox.Json(
      {"search", "star", "--data", "d", "--facet", "genres:find=sci", "--facet", "year:step=10"});
  CHECK(answer["facets"][0]["values"][0]["value"] == "Sci-Fi");
  CHECK(answer["facets"][1]["histogram"][1]["from"] == 1970);
  Ran ran = sandbox.Run({"search", "star", "--data", "d", "--facet", "genres:often"});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, Catch::Contains("--facet genres:often: 'often' is not understood"));
  ran = sandbox.Run({"search", "star", "--data", "d", "--facet", "title"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("facets[0].field: 'title' is TEXT"));
}

TEST_CASE("all matches can be sorted by fields instead of ranked") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  CHECK(Ids(sandbox.Json({"search", "--data", "d", "--order-by", "year desc, genres"})) ==
        std::vector<std::string>{"5", "2", "3", "1", "4"});
  CHECK(Ids(sandbox.Json({"search", "star", "--data", "d", "--order-by", "year"})) ==
        std::vector<std::string>{"4", "1"});
  Ran ran = sandbox.Run({"search", "star", "--data", "d", "--order-by", "year down"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("order_by: 'down' stands after field 'year'"));
}

TEST_CASE("results are grouped by a field, with each group named once") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  const Ran table =
      sandbox.Run({"search", "--data", "d", "--order-by", "year desc", "--group-by", "genres:2"});
  INFO(table.err);
  CHECK(table.code == 0);
  CHECK_THAT(table.out, Catch::StartsWith("5 items\ngroup "));
  const auto answer =
      sandbox.Json({"search", "--data", "d", "--order-by", "year desc", "--group-by", "genres"});
  // By first genre: Animation of 1995, Sci-Fi of 1995, Action of 1995 before that of 1977, Drama of 1954.
  CHECK(Ids(answer) == std::vector<std::string>{"2", "3", "5", "4"});
  CHECK(answer["results"][2]["group"]["value"] == "Action");
  CHECK(answer["total_size"] == "5");
  const auto feed = sandbox.Json({"recommend", "--data", "d", "--group-by", "year:1"});
  CHECK(feed["results"].size() == 3);
  Ran ran = sandbox.Run({"search", "--data", "d", "--group-by", "genres:many"});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, Catch::Contains("--group-by genres:many: after the colon it takes how many of each"));
  ran = sandbox.Run({"search", "--data", "d", "--group-by", "title"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("group_by.field: 'title' is TEXT"));
}

TEST_CASE("a bad filter, limit or release is an error that names it, not a crash") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  Ran ran = sandbox.Run({"search", "star", "--data", "d", "--filter", "yaer > 1990"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("yaer") && Catch::Contains("column"));
  ran = sandbox.Run({"search", "star", "--data", "d", "--limit", "-1"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("page_size"));
  CHECK(sandbox.Run({"search", "star", "--data", "d", "--limit", "1000000"}).code == 0);
  ran = sandbox.Run({"search", "star", "--data", "d", "--release", "none-such"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("none-such"));
  ran = sandbox.Run({"search", "star", "--data", "d", "--collection", "other"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("other"));
  ran = sandbox.Run({"search", std::string(100000, 'a'), "--data", "d"});
  CHECK(ran.code == 1);
}

TEST_CASE("a feed leaves out what the user has seen and serves newcomers too") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  std::string events;
  for (const char* event : {"u1 1", "u1 3", "u2 1", "u2 3", "u2 5", "u3 5"}) {
    const std::string text = event;
    events += "{\"type\":\"view\",\"user_id\":\"" + text.substr(0, 2) + "\",\"item_id\":\"" + text.substr(3) +
              "\",\"time\":\"2020-01-0" + std::to_string(1 + events.size() % 9) + "\"}\n";
  }
  REQUIRE(sandbox.Run({"import", "events", "-", "--data", "d"}, events).code == 0);
  const auto feed = Ids(sandbox.Json({"recommend", "--data", "d", "--user", "u1"}));
  CHECK_FALSE(feed.empty());
  for (const std::string& id : feed) CHECK((id != "1" && id != "3"));
  CHECK_FALSE(Ids(sandbox.Json({"recommend", "--data", "d", "--user", "newcomer"})).empty());
  CHECK_FALSE(Ids(sandbox.Json({"recommend", "--data", "d", "--item", "1"})).empty());
}

TEST_CASE("two collections of one folder know nothing of each other") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  REQUIRE(sandbox
              .Run({"import", "items", "-", "--data", "d", "--collection", "books"},
                   "{\"id\":\"1\",\"title\":\"Star Dust\"}\n")
              .code == 0);
  CHECK(sandbox.Json({"search", "star", "--data", "d"})["total_size"] == "2");
  const auto books = sandbox.Json({"search", "star", "--data", "d", "--collection", "books"});
  CHECK(books["total_size"] == "1");
  CHECK(books["results"][0]["item"]["fields"]["title"] == "Star Dust");
}

TEST_CASE("of many matches it is said how many there are at least, unless all are to be counted") {
  Sandbox sandbox;
  std::string items;
  for (int i = 0; i < 900; ++i) {
    items += R"({"id":")" + std::to_string(i) + R"(","title":")" + (i < 600 ? "star" : "moon") + "\"}\n";
  }
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, items).code == 0);
  CHECK_THAT(sandbox.Run({"search", "star moon", "--data", "d", "--exact-total", "100"}).out,
             Catch::StartsWith("at least "));
  CHECK_THAT(sandbox.Run({"search", "star moon", "--data", "d"}).out, Catch::StartsWith("900 items\n"));
  const auto answer = sandbox.Json({"search", "star moon", "--data", "d", "--exact-total", "100"});
  CHECK(answer["total_size_relation"] == "AT_LEAST");
  const int64_t least = std::stoll(answer["total_size"].get<std::string>());
  CHECK(least >= 600);
  CHECK(least <= 900);
  const Ran ran = sandbox.Run({"search", "star", "--data", "d", "--exact-total", "-1"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("exact_total_limit: is -1"));
}

TEST_CASE("models and releases are listed, and what is not there is named") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  CHECK(sandbox.Json({"model", "list", "--data", "d"})["models"].empty());
  CHECK(sandbox.Json({"release", "list", "--data", "d"})["releases"].empty());
  CHECK(sandbox.Run({"release", "rollback", "--data", "d"}).code == 1);
  Ran ran = sandbox.Run({"model", "show", "ranker", "v9", "--data", "d"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("v9"));
  std::filesystem::create_directory(sandbox.Path("package"));
  ran = sandbox.Run({"model", "import", "package", "--data", "d"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("manifest.json"));
  sandbox.Write("package/manifest.json", "{}");
  CHECK(sandbox.Run({"model", "import", "package", "--data", "d"}).code == 1);
  // Too little to learn from is said with the counts.
  ran = sandbox.Run({"train", "all", "--data", "d"});
  CHECK(ran.code == 1);
  CHECK_FALSE(ran.err.empty());
}

}  // namespace
}  // namespace waymark
