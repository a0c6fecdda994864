// HTTP/JSON against a live server.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/time/clock.h"
#include "tests/serving/live_server.h"
#include "tests/support/catch.h"
#include "waymark/v1/admin.grpc.pb.h"

using namespace waymark;
using namespace waymark::tests;

TEST_CASE("Items go in and come out as JSON, ids with slashes too") {
  LiveServer live;
  int status = 0;
  auto json = live.Post(
      "/v1/items:put", R"({"items":[{"id":"a/b","fields":{"title":"Toy Story","year":1995,"unitPrice":3}}]})",
      &status);
  INFO(json.dump());
  REQUIRE(status == 200);
  CHECK(json["results"][0]["id"] == "a/b");
  CHECK(json["results"][0]["version"] == "1");  // int64 is text in protobuf's JSON
  const std::string token = json["consistency_token"];
  for (const char* path :
       {"/v1/items/a/b", "/v1/items/a%2Fb", "/v1/tenants/default/collections/default/items/a/b"}) {
    INFO(path);
    json = live.Get(path, &status);
    CHECK(status == 200);
    CHECK(json["id"] == "a/b");
    CHECK(json["fields"]["year"] == 1995);
    CHECK(json["name"] == "tenants/default/collections/default/items/a/b");
  }
  json = live.Post(
      "/v1/items:update",
      R"({"updates":[{"item":{"id":"a/b","fields":{"unitPrice":4}},"update_mask":"unitPrice"}]})", &status);
  REQUIRE(status == 200);
  CHECK(json["results"][0]["version"] == "2");
  json = live.Get("/v1/items/a/b", &status);
  CHECK(json["fields"]["unitPrice"] == 4);
  CHECK(json["fields"]["title"] == "Toy Story");
  json = live.Get("/v1/search?query=toy&consistency_token=" + token, &status);
  INFO(json.dump());
  REQUIRE(status == 200);
  REQUIRE(json["results"].size() == 1);
  CHECK(json["results"][0]["item"]["id"] == "a/b");
  CHECK(json["total_size"] == "1");
  CHECK(json["total_size_relation"] == "EXACT");
  json = live.Post("/v1/tenants/default/collections/default:search", R"({"query":"toy"})", &status);
  CHECK(status == 200);
  CHECK(json["results"].size() == 1);
}

TEST_CASE("Facets are asked for and answered as JSON, and a wrong one is named with its place") {
  LiveServer live;
  int status = 0;
  auto json = live.Post("/v1/items:put", R"({"items":[
      {"id":"1","fields":{"title":"Star Wars","genres":["Action","Sci-Fi"],"year":1977}},
      {"id":"2","fields":{"title":"A Star Is Born","genres":["Drama"],"year":1954}},
      {"id":"3","fields":{"title":"Heat","genres":["Action"],"year":1995}}]})",
                        &status);
  REQUIRE(status == 200);
  const std::string token = json["consistency_token"];
  json = live.Post("/v1/search",
                   R"({"query":"star","filter":"genres = \"Drama\"","consistency_token":")" + token +
                       R"(","facets":[{"field":"genres","disjunctive":true},
      {"field":"year","ranges":[{"to":1960},{"from":1960,"to":2000}],"histogram":{"interval":10}}]})",
                   &status);
  INFO(json.dump());
  REQUIRE(status == 200);
  CHECK(json["total_size"] == "1");
  REQUIRE(json["facets"].size() == 2);
  const auto& values = json["facets"][0]["values"];
  REQUIRE(values.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(values[i]["value"] == std::vector<std::string>{"Action", "Drama", "Sci-Fi"}[i]);
    CHECK(values[i]["count"] == "1");
  }
  const auto& ranges = json["facets"][1]["ranges"];
  CHECK(ranges[0]["count"] == "1");
  CHECK(ranges[0]["to"] == 1960);
  CHECK(ranges[0]["filter"] == "year < 1960");
  CHECK_FALSE(ranges[1].contains("count"));  // 0, as in all of proto's JSON
  CHECK(ranges[1]["filter"] == "year:1960..1999");
  CHECK(json["facets"][1]["histogram"][0]["from"] == 1950);
  json =
      live.Post("/v1/search", R"({"query":"star","facets":[{"field":"year"},{"field":"title"}]})", &status);
  CHECK(status == 400);
  CHECK(FieldOf(json) == "facets[1].field");
}

TEST_CASE("An order is taken from JSON and from the URL, and a wrong one is named") {
  LiveServer live;
  int status = 0;
  auto json = live.Post("/v1/items:put", R"({"items":[
      {"id":"1","fields":{"title":"Star Wars","year":1977}},{"id":"2","fields":{"title":"Star Dust"}},
      {"id":"3","fields":{"title":"A Star Is Born","year":1954}}]})",
                        &status);
  REQUIRE(status == 200);
  const std::string token = json["consistency_token"];
  const auto ids = [](const nlohmann::json& answer) {
    std::vector<std::string> found;
    for (const auto& result : answer["results"]) found.push_back(result["item"]["id"]);
    return found;
  };
  json = live.Post("/v1/search", R"({"query":"star","order_by":"year","consistency_token":")" + token + "\"}",
                   &status);
  CHECK(ids(json) == std::vector<std::string>{"3", "1", "2"});
  json = live.Get("/v1/search?query=star&order_by=year%20desc", &status);
  CHECK(ids(json) == std::vector<std::string>{"1", "3", "2"});
  json = live.Get("/v1/search?query=star&order_by=title", &status);
  CHECK(status == 400);
  CHECK(FieldOf(json) == "order_by");
}

TEST_CASE("Wrong requests get a JSON error that names the field") {
  LiveServer live;
  int status = 0;
  live.Post("/v1/items:put", R"({"items":[{"id":"a"}]})", &status);
  REQUIRE(status == 200);
  struct Row {
    const char *path, *body, *field;
  };
  const std::string long_query = "{\"query\":\"" + std::string(100000, 'q') + "\"}";
  const Row rows[] = {
      {"/v1/search", "{\"query\":", "body"},
      {"/v1/search", "{\"query\":NaN}", "body"},
      {"/v1/search", "{\"qurey\":\"x\"}", "qurey"},
      {"/v1/search", "{\"page_size\":-1}", "page_size"},
      {"/v1/search", "{\"page_size\":\"ten\"}", "page_size"},
      {"/v1/search", long_query.c_str(), "query"},
      {"/v1/recommend", "{\"diversity\":\"NaN\"}", "diversity"},
      {"/v1/items:put", "{\"items\":[{\"id\":\"b\",\"fields\":{\"ean\":9007199254740993}}]}",
       "items[0].fields.ean"},
  };
  for (const Row& row : rows) {
    INFO(row.path << " " << std::string(row.body).substr(0, 100));
    const auto json = live.Post(row.path, row.body, &status);
    CHECK(status == 400);
    CHECK(json["error"]["code"] == 400);
    CHECK(json["error"]["status"] == "INVALID_ARGUMENT");
    CHECK(FieldOf(json) == row.field);
  }
  auto json = live.Get("/v1/search?page_size=x", &status);
  CHECK(status == 400);
  CHECK(FieldOf(json) == "page_size");
  json = live.Get("/v1/items/none", &status);
  CHECK(status == 404);
  CHECK(json["error"]["status"] == "NOT_FOUND");
  json = live.Get("/v1/no/such/path", &status);
  CHECK(status == 404);
  json = live.Get("/v1/items:put", &status);
  CHECK(status == 405);
  json = live.Get("/v1/status", &status);
  CHECK(status == 404);
}

TEST_CASE("What curl sends by default is read as JSON, also when it is long") {
  LiveServer live;
  std::string body = "{\"items\":[";
  for (int i = 0; i < 900; ++i)
    body += std::string(i == 0 ? "" : ",") + "{\"id\":\"item-" + std::to_string(i) + "\"}";
  body += "]}";
  REQUIRE(body.size() > 8192);
  const auto result = live.http()->Post("/v1/items:put", body, "application/x-www-form-urlencoded");
  REQUIRE(result);
  CHECK(result->status == 200);
  CHECK(nlohmann::json::parse(result->body)["results"].size() == 900);
}

TEST_CASE("A body over the limit is refused before it is kept") {
  LiveServer live;
  auto client = live.http();
  client->set_write_timeout(10);
  const auto result = client->Post("/v1/items:put", std::string(33 << 20, ' '), "application/json");
  REQUIRE(result);
  CHECK(result->status == 413);
  CHECK(nlohmann::json::parse(result->body)["error"]["status"] == "RESOURCE_EXHAUSTED");
}

TEST_CASE("Pages of other origins are refused; listed ones get CORS headers") {
  LiveServer live({.cors_origins = {"https://shop.example"}});
  auto client = live.http();
  auto result = client->Post("/v1/search", {{"Origin", "https://evil.example"}}, "{}", "text/plain");
  REQUIRE(result);
  CHECK(result->status == 403);
  CHECK_FALSE(result->has_header("Access-Control-Allow-Origin"));
  result = client->Options("/v1/search", {{"Origin", "https://shop.example"}});
  REQUIRE(result);
  CHECK(result->status == 204);
  CHECK(result->get_header_value("Access-Control-Allow-Origin") == "https://shop.example");
}

TEST_CASE("The timeout of a request is its header's") {
  LiveServer live;
  int status = 0;
  live.Post("/v1/items:put", R"({"items":[{"id":"a"}]})", &status);
  REQUIRE(status == 200);
  const std::string token = EncodeConsistencyToken(live.engine->store().EndPosition());
  live.engine->gate().SetStale(true);
  auto client = live.http();
  auto result = client->Post("/v1/search", {{"X-Server-Timeout", "0.2"}},
                             "{\"query\":\"a\",\"consistency_token\":\"" + token + "\"}", "application/json");
  REQUIRE(result);
  CHECK(result->status == 504);
  result =
      client->Post("/v1/search", {{"X-Server-Timeout", "soon"}}, "{\"query\":\"a\"}", "application/json");
  REQUIRE(result);
  CHECK(result->status == 400);
}

TEST_CASE("HEAD answers as GET without a body") {
  LiveServer live;
  const auto result = live.http()->Head("/healthz");
  REQUIRE(result);
  CHECK(result->status == 200);
  CHECK(result->body.empty());
}

TEST_CASE("A POST without any body is an empty message, at once") {
  LiveServer live;
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string where = live.server->http_address();
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(where.substr(where.rfind(':') + 1))));
  REQUIRE(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  const std::string request = "POST /v1/search HTTP/1.1\r\nHost: x\r\n\r\n";
  const absl::Time before = absl::Now();
  REQUIRE(write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size()));
  char answer[64] = {};
  REQUIRE(read(fd, answer, sizeof(answer) - 1) > 0);
  close(fd);
  // Nothing has been written yet, so there is no collection.
  CHECK(std::string(answer).find("HTTP/1.1 404") == 0);
  CHECK(absl::Now() - before < absl::Seconds(5));
}

TEST_CASE("Errors say what a field takes, and the text of a URL is UTF-8") {
  LiveServer live;
  int status = 0;
  live.Post("/v1/items:put", R"({"items":[{"id":"a"}]})", &status);
  REQUIRE(status == 200);
  auto json = live.Get("/v1/search?query=%ff%fe", &status);
  CHECK(status == 400);
  CHECK(FieldOf(json) == "query");
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"events":[{"time":"yesterday"}]})", "RFC 3339"},
      {R"({"events":[{"time":881250949}]})", "RFC 3339"},
      {R"({"events":[{"position":"x"}]})", "whole number"},
      {R"({"events":[{"value":"five"}]})", "a number"},
  };
  for (const auto& [body, told] : cases) {
    INFO(body);
    json = live.Post("/v1/events:write", body, &status);
    CHECK(status == 400);
    CHECK_THAT(std::string(json["error"]["message"]),
               Catch::Contains(told) && !Catch::Contains("type.googleapis.com") && !Catch::Contains("TYPE_"));
  }
  json = live.Get("/v1/search?query=" + std::string(20000, 'a'), &status);
  CHECK(status == 414);
  CHECK_THAT(std::string(json["error"]["message"]), Catch::Contains("POST"));
  // An empty object is what many clients send with every POST.
  json = live.Post("/v1/models/ranker/versions/none:verify", "{}", &status);
  CHECK(status == 404);
  CHECK_THAT(std::string(json["error"]["message"]), Catch::Contains("ranker 'none'"));
}

TEST_CASE("A form is refused by what is wanted instead, and the connection goes on") {
  LiveServer live;
  auto client = live.http();
  client->set_keep_alive(true);
  const auto result = client->Post("/v1/search", httplib::MultipartFormDataItems{{"query", "tea", "", ""}});
  REQUIRE(result);
  CHECK(result->status == 415);
  CHECK_THAT(result->body, Catch::Contains("application/json"));
  const auto next = client->Get("/healthz");
  REQUIRE(next);
  CHECK(next->status == 200);
}

TEST_CASE("What is too large for a call is 413, as what is too large for the server") {
  LiveServer live;
  const auto result = live.http()->Post("/v1/search", "{\"query\":\"" + std::string(3 << 20, 'q') + "\"}",
                                        "application/json");
  REQUIRE(result);
  CHECK(result->status == 413);
  CHECK(nlohmann::json::parse(result->body)["error"]["status"] == "RESOURCE_EXHAUSTED");
}

TEST_CASE("Tokens, paths and names that say something else are refused by name") {
  LiveServer live;
  int status = 0;
  auto json = live.Post("/v1/items:put",
                        R"({"items":[{"id":"n1","name":"tenants/x/collections/y/items/n1"},
                                     {"id":"n2","name":"items/n3"}]})",
                        &status);
  REQUIRE(status == 200);
  CHECK_FALSE(json["results"][0].contains("code"));
  CHECK(json["results"][1]["code"] == 3);
  CHECK_THAT(std::string(json["results"][1]["message"]), Catch::Contains("items/n3"));
  json = live.Get("/v1/items/n1?consistency_token=abc", &status);
  CHECK(status == 400);
  CHECK_THAT(std::string(json["error"]["message"]),
             Catch::StartsWith("consistency_token is 'abc'; it takes "));
  CHECK(FieldOf(json) == "consistency_token");
  json = live.Get("/v1/items/%FF", &status);
  CHECK(status == 400);
  CHECK(FieldOf(json) == "name");
}

TEST_CASE("A visitor's state is asked for in the place of a user's") {
  LiveServer live;
  int status = 0;
  auto json = live.Post("/v1/items:put", R"({"items":[{"id":"a"}]})", &status);
  REQUIRE(status == 200);
  json = live.Post("/v1/events:write", R"({"events":[{"type":"view","visitor_id":"v1","item_id":"a"}]})",
                   &status);
  REQUIRE(status == 200);
  const std::string token = json["consistency_token"];
  json = live.Get("/v1/userStates/-?visitor_id=v1&consistency_token=" + token, &status);
  INFO(json.dump());
  REQUIRE(status == 200);
  CHECK(json["history"][0]["item_id"] == "a");
  json = live.Get("/v1/userStates/u?visitor_id=v1", &status);
  CHECK(status == 400);
}

TEST_CASE("A release that should serve and does not load is named with the reason") {
  LiveServer live;
  int status = 0;
  live.Post("/v1/items:put", R"({"items":[{"id":"a"}]})", &status);
  REQUIRE(status == 200);
  Store& store = live.engine->store();
  const Scope scope = live.engine->Collections().at(0)->scope();
  storage::ReleaseRecord release;
  release.set_id("r1");
  release.set_ranker_version("gone");
  release.set_note("mine");
  REQUIRE(store.PutRelease(scope, release).ok());
  storage::ActivationRecord::Activation activation;
  activation.set_release_id("r1");
  REQUIRE(store.Activate(scope, "", activation).ok());
  live.Restart();
  auto json = live.Get("/v1/releases", &status);
  INFO(json.dump());
  REQUIRE(json["releases"].size() == 1);
  CHECK_FALSE(json["releases"][0].contains("active"));
  CHECK_THAT(std::string(json["releases"][0]["note"]),
             Catch::StartsWith("should serve, and is not loaded: ") && Catch::EndsWith("; mine"));
  v1::Status told;
  grpc::ClientContext context;
  REQUIRE(v1::AdminService::NewStub(live.admin_channel())->GetStatus(&context, {}, &told).ok());
  CHECK_THAT(told.collections(0).active_release(),
             Catch::StartsWith("r1 (should serve, and is not loaded: ") && Catch::Contains("gone"));
}
