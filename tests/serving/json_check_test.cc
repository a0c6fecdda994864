#include "serving/http/json_check.h"

#include "serving/http/query_parameters.h"
#include "serving/http/transcoder.h"
#include "serving/service_names.h"
#include "tests/support/catch.h"
#include "waymark/v1/catalog.pb.h"
#include "waymark/v1/event.pb.h"
#include "waymark/v1/recommend.pb.h"
#include "waymark/v1/search.pb.h"

using namespace waymark;

namespace {

std::string Problem(const std::string& json, const google::protobuf::Descriptor* type) {
  auto checked = CheckJson(json, *type);
  return checked.ok() ? "" : std::string(checked.status().message());
}
std::string ItemsProblem(const std::string& json) { return Problem(json, v1::PutItemsRequest::descriptor()); }

// Reads a request as the gateway does.
absl::StatusOr<std::unique_ptr<google::protobuf::Message>> Read(const std::string& verb,
                                                                const std::string& path,
                                                                const std::string& query,
                                                                const std::string& body) {
  static const HttpRoutes routes = *HttpRoutes::Make(PublicServiceNames());
  const HttpMatch match = routes.Find(verb, path);
  REQUIRE(match.route != nullptr);
  const auto* prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(match.route->method->input_type());
  return ReadRequest(match, *prototype, query, body);
}

template <class Request>
Request ReadOk(const std::string& verb, const std::string& path, const std::string& query,
               const std::string& body) {
  auto read = Read(verb, path, query, body);
  INFO(read.status());
  REQUIRE(read.ok());
  return static_cast<const Request&>(**read);
}
std::string ReadProblem(const std::string& verb, const std::string& path, const std::string& query,
                        const std::string& body) {
  auto read = Read(verb, path, query, body);
  return read.ok() ? "" : std::string(read.status().message());
}

}  // namespace

TEST_CASE("Whole numbers that a double cannot hold are refused by name in free-form fields") {
  CHECK(ItemsProblem(R"({"items":[{"id":"a","fields":{"n":9007199254740992}}]})").empty());
  CHECK(ItemsProblem(R"({"items":[{"id":"a","fields":{"n":-9007199254740992}}]})").empty());
  CHECK(ItemsProblem(R"({"items":[{"id":"a"},{"id":"b","fields":{"barcode":9007199254740993}}]})") ==
        "items[1].fields.barcode: is 9007199254740993, a whole number beyond 2^53, which would lose digits; "
        "write "
        "it as text");
  CHECK(ItemsProblem(R"({"items":[{"fields":{"n":-9007199254740993}}]})").find("items[0].fields.n: ") == 0);
  CHECK(ItemsProblem(R"({"items":[{"fields":{"a":{"b":[1,100000000000000000000]}}}]})")
            .find("items[0].fields.a.b[1]: is 100000000000000000000") == 0);
  // A number with a fraction or an exponent says itself that it is no exact whole number.
  CHECK(ItemsProblem(R"({"items":[{"fields":{"n":1e20,"m":9007199254740993.5}}]})").empty());
  // Fields that are int64 by type keep all digits.
  CHECK(ItemsProblem(R"({"items":[{"version":9007199254740993}]})").empty());
}

TEST_CASE("Unknown names and wrong shapes are refused with their path") {
  CHECK(ItemsProblem(R"({"itmes":[]})") == "itmes: is no field of PutItemsRequest");
  CHECK(ItemsProblem(R"({"items":[{"idd":"a"}]})") == "items[0].idd: is no field of Item");
  CHECK(ItemsProblem(R"({"items":{"id":"a"}})") == "items: is an object; it takes a list");
  CHECK(ItemsProblem(R"({"items":[{"id":["a"]}]})") == "items[0].id: is a list; it takes a single value");
  CHECK(ItemsProblem(R"({"items":[{"id":{"a":1}}]})") ==
        "items[0].id: is an object; it takes a single value");
  CHECK(ItemsProblem("[]").find("body: is a list") == 0);
  CHECK(ItemsProblem("7").find("body: is a number") == 0);
  CHECK(ItemsProblem("{").find("body: is not JSON at byte") == 0);
  CHECK(ItemsProblem("{\"parent\":\"\xff\"}").find("body: is not JSON") == 0);
  CHECK(ItemsProblem(R"({"parent":NaN})").find("body: is not JSON") == 0);
  CHECK(ItemsProblem("{} {}").find("body: is not JSON") == 0);
  std::string deep = R"({"items":[{"fields":{"a":)";
  for (int i = 0; i < 200; ++i) deep += "[";
  CHECK(ItemsProblem(deep).find("is nested over 90 deep") != std::string::npos);
}

TEST_CASE("Names are taken in both spellings and answered as in the proto files") {
  const auto request =
      ReadOk<v1::SearchRequest>("POST", "/v1/search", "", R"({"query":"q","pageSize":3,"user_id":"u"})");
  CHECK(request.page_size() == 3);
  CHECK(request.user_id() == "u");
  CHECK(*WriteJson(request) == R"({"query":"q","user_id":"u","page_size":3})");
}

TEST_CASE("A field mask names the operator's fields as they are written") {
  const auto request =
      ReadOk<v1::UpdateItemsRequest>("POST", "/v1/items:update", "",
                                     R"({"updates":[{"item":{"id":"a","fields":{"unitPrice":2}}},
                     {"item":{"id":"b"},"update_mask":"unitPrice,in_stock"},
                     {"item":{"id":"c"},"updateMask":"x"}]})");
  REQUIRE(request.updates_size() == 3);
  CHECK(request.updates(0).update_mask().paths_size() == 0);
  REQUIRE(request.updates(1).update_mask().paths_size() == 2);
  CHECK(request.updates(1).update_mask().paths(0) == "unitPrice");
  CHECK(request.updates(1).update_mask().paths(1) == "in_stock");
  CHECK(request.updates(2).update_mask().paths(0) == "x");
}

TEST_CASE("The path's fields win over the body's") {
  const auto request = ReadOk<v1::SearchRequest>("POST", "/v1/tenants/t/collections/c:search", "",
                                                 R"({"parent":"tenants/x/collections/y","query":"q"})");
  CHECK(request.parent() == "tenants/t/collections/c");
}

TEST_CASE("Query parameters fill nested, repeated, enumerated and well-known fields") {
  const auto search = ReadOk<v1::SearchRequest>(
      "GET", "/v1/search",
      "query=star+wars%21&page_size=5&fields=title&fields=year&personalization=OFF&explain=true"
      "&candidates.per_source=7&match=2",
      "");
  CHECK(search.query() == "star wars!");
  CHECK(search.page_size() == 5);
  REQUIRE(search.fields_size() == 2);
  CHECK(search.fields(1) == "year");
  CHECK(search.personalization() == v1::OFF);
  CHECK(search.explain());
  CHECK(search.candidates().per_source() == 7);
  CHECK(search.match() == v1::SearchRequest::ALL);
  const auto feed = ReadOk<v1::RecommendRequest>(
      "GET", "/v1/recommend",
      "excludeSeen.within=90.5s&exclude_seen.types=purchase&strict_filter=false&diversity=0.25", "");
  CHECK(feed.exclude_seen().within().seconds() == 90);
  CHECK(feed.exclude_seen().within().nanos() == 500000000);
  CHECK(feed.exclude_seen().types(0) == "purchase");
  CHECK(feed.has_strict_filter());
  CHECK_FALSE(feed.strict_filter());
  CHECK(feed.diversity() == 0.25);
}

TEST_CASE("Query parameters that do not fit are refused by name") {
  const auto problem = [](const std::string& query) { return ReadProblem("GET", "/v1/search", query, ""); };
  CHECK(problem("qurey=x") == "qurey: is no field of SearchRequest");
  CHECK(problem("page_size=ten") == "page_size: is 'ten'; it takes a whole number (int32)");
  CHECK(problem("page_size=99999999999") == "page_size: is '99999999999'; it takes a whole number (int32)");
  CHECK(problem("explain=yes") == "explain: is 'yes'; it takes true or false");
  CHECK(problem("personalization=MAYBE").find("personalization: is 'MAYBE'; it takes one of ") == 0);
  CHECK(problem("query=a&query=b") == "query: is given twice; it takes one value");
  CHECK(problem("context=nl") == "context: has no text form; send it in the body of a POST");
  CHECK(problem("query.x=nl") == "query.x: has no fields below 'query'");
  CHECK(problem("query=%zz") == "query: is not percent-encoded properly");
  CHECK(ReadProblem("GET", "/v1/search", "", "{}") == "body: is not taken by GET; use query parameters");
  CHECK(ReadProblem("POST", "/v1/search", "query=x", "{}") ==
        "query string: is not taken here; all fields go into the body");
}

TEST_CASE("Values of a wrong type are refused by name") {
  CHECK(ReadProblem("POST", "/v1/search", "", R"({"page_size":"many"})").find("page_size: ") == 0);
  CHECK(ReadProblem("POST", "/v1/search", "", R"({"page_size":1.5})").find("page_size: ") == 0);
  CHECK(ReadProblem("POST", "/v1/search", "", R"({"query":5})").find("query: ") == 0);
  CHECK(
      ReadProblem("POST", "/v1/search", "", R"({"personalization":"SOMETIMES"})").find("personalization: ") ==
      0);
  CHECK(ReadProblem("POST", "/v1/events:write", "", R"({"events":[{"time":"yesterday"}]})")
            .find("events[0].time: ") == 0);
}

TEST_CASE("What nests as deep as the store takes has a JSON form") {
  std::string value = "1";
  for (int i = 0; i < 31; ++i) value = "{\"a\":" + value + "}";
  const auto request = ReadOk<v1::PutItemsRequest>("POST", "/v1/items:put", "",
                                                   "{\"items\":[{\"id\":\"a\",\"fields\":" + value + "}]}");
  auto json = WriteJson(request);
  INFO(json.status());
  REQUIRE(json.ok());
  CHECK(json->find(value) != std::string::npos);
}

TEST_CASE("A key that stands twice is refused by name") {
  CHECK(ReadProblem("POST", "/v1/search", "", R"({"query":"a","query":"b"})") ==
        "query: is there twice; a key stands once");
  CHECK(ReadProblem("POST", "/v1/search", "", R"({"page_size":1,"pageSize":2})") ==
        "pageSize: is there twice; a key stands once");
  CHECK(ItemsProblem(R"({"items":[{"id":"a","fields":{"n":1,"m":{"n":1},"n":2}}]})") ==
        "items[0].fields.n: is there twice; a key stands once");
  CHECK(ItemsProblem(R"({"items":[{"id":"a","fields":{"n":1}},{"id":"b","fields":{"n":2}}]})").empty());
}

TEST_CASE("Values of a wrong kind are refused in our words") {
  const auto problem = [](const std::string& body) { return ReadProblem("POST", "/v1/recommend", "", body); };
  CHECK(problem(R"({"context":[]})") == "context: is a list; it takes an object");
  CHECK(problem(R"({"context":"nl"})") == "context: is text; it takes an object");
  CHECK(problem(R"({"exclude_seen":true})") ==
        "exclude_seen: is true or false; it takes an object with the fields of ExcludeSeen");
  CHECK(problem(R"({"fields":"title"})") == "fields: is text; it takes a list");
  CHECK(problem(R"({"context":null,"exclude_seen":null})").empty());
  CHECK(problem(R"({"fields":["title",null]})") == "fields[1]: is null; it takes a single value");
  CHECK(problem(R"({"context":{"tags":["a",null]}})").empty());  // free-form lists hold what they hold
  CHECK(ReadProblem("POST", "/v1/experiments:assign", "", R"({"units":[{"user_id":"a"},null]})") ==
        "units[1]: is null; it takes an object with the fields of Unit");
  for (const char* mask : {R"({"paths":[]})", "[]", "5"}) {
    INFO(mask);
    CHECK_THAT(ReadProblem("POST", "/v1/items:update", "",
                           R"({"updates":[{"item":{"id":"a"},"update_mask":)" + std::string(mask) + "}]}"),
               Catch::StartsWith("updates[0].update_mask: is ") &&
                   Catch::EndsWith(
                       "it takes text, the names of fields with commas between them, as \"title,year\""));
  }
}
