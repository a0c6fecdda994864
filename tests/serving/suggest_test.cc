// Suggestions and query reports over HTTP, as a page in a browser asks for them.
#include "tests/serving/live_server.h"
#include "tests/support/catch.h"

using namespace waymark;
using namespace waymark::tests;

namespace {

// A consistency token.
std::string PutFilms(const LiveServer& live) {
  int status = 0;
  const auto json =
      live.Post("/v1/items:put",
                R"({"items":[{"id":"1","fields":{"title":"Star <Wars>","genres":["Sci-Fi"],"year":1977}},
                                           {"id":"2","fields":{"title":"Stardust","genres":["Fantasy"],"year":2007}}]})",
                &status);
  REQUIRE(status == 200);
  return json["consistency_token"];
}

}  // namespace

TEST_CASE("Suggestions are asked for by GET and by POST, of a collection by its name") {
  LiveServer live;
  const std::string token = PutFilms(live);
  int status = 0;
  auto json = live.Get("/v1/suggest?query=sta&consistency_token=" + token, &status);
  INFO(json.dump());
  REQUIRE(status == 200);
  REQUIRE(json["suggestions"].size() == 2);
  CHECK(json["suggestions"][0]["text"] == "Stardust");  // the shorter one, where nothing else tells
  CHECK(json["suggestions"][0]["kind"] == "TITLES");
  CHECK(json["suggestions"][0]["field"] == "title");
  CHECK(json["suggestions"][0]["item"] == "tenants/default/collections/default/items/2");
  CHECK(json["suggestions"][0]["count"] == "1");
  CHECK(json["suggestions"][1]["snippet"] == "<mark>Sta</mark>r &lt;Wars&gt;");
  CHECK(json["suggestions"][1]["matches"][0]["end"] == 3);
  CHECK(json["timings"][0]["stage"] == "total");
  json = live.Get(
      "/v1/tenants/default/collections/default:suggest?query=fan&kinds=FIELD_VALUES&kinds=PAST_QUERIES",
      &status);
  REQUIRE(status == 200);
  REQUIRE(json["suggestions"].size() == 1);
  CHECK(json["suggestions"][0]["text"] == "Fantasy");
  json = live.Post("/v1/suggest", R"({"query": "satrd", "filter": "year > 2000", "limit": 1})", &status);
  REQUIRE(status == 200);
  REQUIRE(json["suggestions"].size() == 1);
  CHECK(json["suggestions"][0]["edits"] == 1);
  json = live.Post("/v1/tenants/default/collections/default:suggest",
                   R"({"query": "satrd", "typo_tolerance": "OFF"})", &status);
  CHECK(status == 200);
  CHECK(json["suggestions"].empty());
}

TEST_CASE("What is wrong with a request for suggestions is named") {
  LiveServer live;
  PutFilms(live);
  int status = 0;
  const auto refused = [&](const std::string& parameters) {
    const auto json = live.Get("/v1/suggest?" + parameters, &status);
    CHECK(status == 400);
    return FieldOf(json);
  };
  CHECK(refused("limit=-1") == "limit");
  CHECK(refused("limit=1000000") == "limit");
  CHECK(refused("fields=titel") == "fields[0]");
  CHECK(refused("filter=year+%3E%3E") == "filter");
  CHECK(refused("consistency_token=x") == "consistency_token");
  live.Get("/v1/suggest?user_id=u", &status);
  CHECK(status == 400);  // there is no personal order
  auto json = live.Post("/v1/suggest", R"({"query": ")" + std::string(100 << 10, 'a') + R"("})", &status);
  CHECK(status == 400);
  CHECK(FieldOf(json) == "query");
  json = live.Post("/v1/suggest", R"({"kinds": [7]})", &status);
  CHECK(status == 400);
  json = live.Get("/v1/tenants/t/collections/none:suggest?query=s", &status);
  CHECK(status == 404);
  for (const char* query : {"%F0%9F%8E%AC", "%D7%A9%D7%9C", "%3F%21", "+", ""}) {
    live.Get(std::string("/v1/suggest?query=") + query, &status);
    CHECK(status == 200);
  }
}

TEST_CASE("Searches that found nothing are reported on the admin port, and not on the public one") {
  ServerOptions options;
  options.admin_http_address = "127.0.0.1:0";
  LiveServer live(options);
  const std::string token = PutFilms(live);
  int status = 0;
  for (const char* query : {"qqqq", "Qqqq%21", "wwww", "star"}) {
    live.Get(std::string("/v1/search?query=") + query + "&consistency_token=" + token, &status);
    REQUIRE(status == 200);
  }
  live.Get("/v1/queries:report", &status);
  CHECK(status == 404);
  httplib::Client admin("http://" + live.server->admin_http_address());
  const auto report = [&](const std::string& parameters) {
    const auto result = admin.Get("/v1/queries:report?" + parameters);
    REQUIRE(result);
    status = result->status;
    return nlohmann::json::parse(result->body);
  };
  auto json = report("kind=NO_HITS");
  INFO(json.dump());
  REQUIRE(status == 200);
  CHECK(json["searches"] == "4");
  CHECK(json["matching"] == "3");
  REQUIRE(json["queries"].size() == 2);
  CHECK(json["queries"][0]["query"] == "qqqq");
  CHECK(json["queries"][0]["count"] == "2");
  CHECK(json["complete"] == true);
  json = report("kind=FEW_HITS&few_hits=2");
  REQUIRE(json["queries"].size() == 1);
  CHECK(json["queries"][0]["query"] == "star");
  CHECK(json["queries"][0]["last_total_size"] == "1");
  json = report("kind=SLOW&slow_milliseconds=0.000001");
  CHECK(json["queries"].size() == 3);
  CHECK(report("to=1999-01-01T00:00:00Z")["queries"].empty());
  CHECK(FieldOf(report("limit=-1")) == "limit");
  CHECK(status == 400);
  CHECK(FieldOf(report("slow_milliseconds=-1")) == "slow_milliseconds");
  CHECK(FieldOf(report("from=2001-01-01T00:00:00Z&to=2000-01-01T00:00:00Z")) == "to");
}
