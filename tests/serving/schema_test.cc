// Schemas over HTTP/JSON.
#include "tests/serving/live_server.h"
#include "tests/support/catch.h"

using namespace waymark::tests;

TEST_CASE("A schema that is left out or empty is not declared") {
  LiveServer live;
  int status = 0;
  live.Post("/v1/items:put", R"({"items":[{"id":"a","fields":{"title":"Toy Story","year":1995}}]})", &status);
  REQUIRE(status == 200);
  for (const char* body : {"{}", R"({"schema":{}})", R"({"schema":{"language":"english"}})"}) {
    INFO(body);
    const auto result = live.http()->Patch("/v1/schema", body, "application/json");
    REQUIRE(result);
    CHECK(result->status == 400);
    CHECK_THAT(result->body, Catch::Contains("schema"));
  }
  const auto schema = live.Get("/v1/schema", &status);
  CHECK(schema["fields"].size() == 2);
  CHECK_FALSE(schema.contains("declared"));
}

TEST_CASE("A declared field leaves the others as they are, and stop words out") {
  LiveServer live;
  int status = 0;
  auto json = live.Post("/v1/items:put",
                        R"({"items":[{"id":"a","fields":{"title":"Cat in a hat","year":1995}}]})", &status);
  REQUIRE(status == 200);
  const std::string token = json["consistency_token"];
  const auto patch = [&](const std::string& schema) {
    const auto result = live.http()->Patch("/v1/schema", "{\"schema\":" + schema + "}", "application/json");
    REQUIRE(result);
    INFO(result->body);
    REQUIRE(result->status == 200);
    return nlohmann::json::parse(result->body);
  };
  json = patch(R"({"fields":[{"name":"ean","type":"KEYWORD","filterable":true}]})");
  REQUIRE(json["fields"].size() == 3);
  CHECK(json["declared"] == true);
  CHECK(json["remove_stop_words"] == true);
  json = live.Get("/v1/search?query=in+a&consistency_token=" + token, &status);
  CHECK(status == 200);
  CHECK_FALSE(json.contains("results"));
  json = live.Get("/v1/search?query=hat&filter=year=1995", &status);
  CHECK(json["results"].size() == 1);
  json = patch(R"({"language":"english","fields":[{"name":"ean"}]})");
  CHECK(json["fields"].size() == 2);
  CHECK_FALSE(json.contains("remove_stop_words"));
}
