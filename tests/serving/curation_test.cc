// CurationService over gRPC and HTTP, and what searches and feeds make of it.
#include "tests/serving/api_client.h"
#include "waymark/v1/curation.grpc.pb.h"

using namespace waymark;
using namespace waymark::tests;

namespace {

const char* kFilms = R"({"items":[
  {"id":"a","fields":{"title":"Star Wars","genre":"Action","year":1977}},
  {"id":"b","fields":{"title":"A Star Is Born","genre":"Drama","year":1954}},
  {"id":"c","fields":{"title":"Nova","genre":"Drama","year":2000}},
  {"id":"d","fields":{"title":"Running Man","genre":"Action","year":1987}}]})";

void PutFilms(const LiveServer& live, const std::string& parent = "") {
  int status = 0;
  const auto json = live.Post("/v1/" + parent + "items:put", kFilms, &status);
  INFO(json.dump());
  REQUIRE(status == 200);
  live.Get("/v1/" + parent.substr(0, parent.empty() ? 0 : parent.size() - 1) +
               (parent.empty() ? "search" : ":search") +
               "?query=star&consistency_token=" + std::string(json["consistency_token"]),
           &status);
  REQUIRE(status == 200);
}

nlohmann::json HttpPut(const LiveServer& live, const std::string& path, const std::string& body,
                       int* status) {
  const auto result = live.http()->Put(path, body, "application/json");
  REQUIRE(result);
  *status = result->status;
  return nlohmann::json::parse(result->body);
}

std::string IdsOf(const nlohmann::json& answer) {
  std::string ids;
  if (!answer.contains("results")) return ids;  // JSON has no empty lists
  for (const auto& result : answer["results"]) {
    ids += std::string(result["item"]["id"]) + (result.value("pinned", false) ? "! " : " ");
  }
  return ids;
}

grpc::Status PutSynonym(const Api& api, const std::string& id, const std::vector<std::string>& words,
                        std::optional<int64_t> expected, v1::Synonym* written) {
  grpc::ClientContext c;
  v1::PutSynonymRequest request;
  request.set_id(id);
  for (const std::string& word : words) request.mutable_synonym()->add_words(word);
  if (expected) request.set_expected_revision(*expected);
  return v1::CurationService::NewStub(api.channel)->PutSynonym(&c, request, written);
}

}  // namespace

TEST_CASE("A synonym and a rule that were answered count in the next request, and after a restart") {
  LiveServer live;
  PutFilms(live);
  int status = 0;
  auto json = live.Get("/v1/search?query=luminary", &status);
  REQUIRE(status == 200);
  CHECK(json["results"].empty());
  json = HttpPut(live, "/v1/synonyms/lum", R"({"from":["luminary"],"to":["star","nova"],"language":"en"})",
                 &status);
  INFO(json.dump());
  REQUIRE(status == 200);
  CHECK(json["name"] == "tenants/default/collections/default/synonyms/lum");
  CHECK(json["revision"] == "1");
  json = HttpPut(live, "/v1/tenants/default/collections/default/rules/top",
                 R"({"condition":{"match":"EXACT","query":"luminary","filter":"platform = \"web\""},
                     "pins":[{"item_id":"d","position":1}],"redirect_uri":"/stars","hidden_filter":"year < 1960"})",
                 &status);
  INFO(json.dump());
  REQUIRE(status == 200);
  for (const bool restarted : {false, true}) {
    if (restarted) live.Restart();
    json = live.Post("/v1/search", R"({"query":"luminary","context":{"platform":"web","locale":"en-US"}})",
                     &status);
    INFO(json.dump());
    REQUIRE(status == 200);
    CHECK(IdsOf(json).substr(0, 3) == "d! ");
    CHECK(IdsOf(json).size() == 7);  // d, and a and c in an order that is not this test's matter
    CHECK(json["total_size"] == "3");
    CHECK(json["redirect_uri"] == "/stars");
    CHECK(json["applied_rules"] == nlohmann::json({"top"}));
    REQUIRE(json["applied_synonyms"].size() == 1);
    CHECK(json["applied_synonyms"][0]["id"] == "lum");
    CHECK(json["applied_synonyms"][0]["typed"] == "luminary");
    CHECK(json["applied_synonyms"][0]["stands_for"] == nlohmann::json({"star", "nova"}));
    // Without the context neither counts; testers see it without either.
    json = live.Get("/v1/search?query=luminary", &status);
    CHECK(json["results"].empty());
    json = live.Post("/v1/search",
                     R"({"query":"luminary","curation":"OFF","context":{"platform":"web","locale":"en"}})",
                     &status);
    CHECK(status == 200);
    CHECK(json["results"].empty());
    CHECK_FALSE(json.contains("redirect_uri"));
  }
}

TEST_CASE("Feeds are curated by their surface") {
  LiveServer live;
  PutFilms(live);
  int status = 0;
  HttpPut(live, "/v1/rules/home",
          R"({"condition":{"match":"ANY","filter":"surface = \"home\""},
              "pins":[{"item_id":"b","position":1}],"hidden_items":["a"]})",
          &status);
  REQUIRE(status == 200);
  auto json = live.Post("/v1/recommend", R"({"user_id":"u","surface":"home"})", &status);
  INFO(json.dump());
  REQUIRE(status == 200);
  CHECK(IdsOf(json).substr(0, 3) == "b! ");
  CHECK(json["results"].size() == 3);
  CHECK(json["applied_rules"] == nlohmann::json({"home"}));
  json = live.Post("/v1/recommend", R"({"user_id":"u"})", &status);
  CHECK(json["results"].size() == 4);
  json = live.Post("/v1/recommend", R"({"user_id":"u","surface":"home","curation":"OFF"})", &status);
  CHECK(json["results"].size() == 4);
}

TEST_CASE("Writes stand on the revision that was read") {
  LiveServer live;
  Api api(live);
  v1::Synonym written;
  REQUIRE(PutSynonym(api, "s", {"film", "movie"}, 0, &written).ok());
  CHECK(written.revision() == 1);
  CHECK(PutSynonym(api, "s", {"film", "movie"}, 0, &written).error_code() ==
        grpc::StatusCode::ALREADY_EXISTS);
  REQUIRE(PutSynonym(api, "s", {"film", "movie", "picture"}, 1, &written).ok());
  CHECK(written.revision() == 2);
  CHECK(PutSynonym(api, "s", {"film", "movie"}, 1, &written).error_code() == grpc::StatusCode::ABORTED);
  REQUIRE(PutSynonym(api, "s", {"film", "movie"}, {}, &written).ok());
  CHECK(written.revision() == 3);
  const auto refused = PutSynonym(api, "t", {"film"}, {}, &written);
  CHECK(refused.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(FieldOf(refused) == "synonym.words");
  int status = 0;
  auto json = HttpPut(live, "/v1/synonyms/s?expected_revision=2", R"({"words":["film","movie"]})", &status);
  CHECK(status == 409);
  json = HttpPut(live, "/v1/synonyms/s", R"({"id":"t","words":["film","movie"]})", &status);
  CHECK(status == 400);
  json = HttpPut(live, "/v1/synonyms/s", R"({"wrods":["film","movie"]})", &status);
  CHECK(status == 400);
  json = HttpPut(live, "/v1/rules/r", R"({"condition":{"match":"ANY"},"boosts":[{"filter":"x","factor":2}]})",
                 &status);
  CHECK(status == 400);
  CHECK(json["error"]["details"].dump().find("rule.boosts[0].filter") != std::string::npos);
  auto gone = live.http()->Delete("/v1/synonyms/s?expected_revision=2");
  REQUIRE(gone);
  CHECK(gone->status == 409);
  gone = live.http()->Delete("/v1/synonyms/s");
  CHECK(gone->status == 200);
  gone = live.http()->Delete("/v1/synonyms/s");
  CHECK(gone->status == 404);
  json = live.Get("/v1/synonyms/s", &status);
  CHECK(status == 404);
  CHECK(json.dump().find("SYNONYM_NOT_FOUND") != std::string::npos);
}

TEST_CASE("Batches tell what each entry came to, and lists are paged by id") {
  LiveServer live;
  Api api(live);
  v1::PutSynonymsRequest request;
  for (int i = 0; i < 250; ++i) {
    v1::Synonym* synonym = request.add_synonyms();
    synonym->set_id("s" + std::to_string(1000 + i));
    synonym->add_words("word" + std::to_string(i));
    if (i != 7) synonym->add_words("other" + std::to_string(i));
  }
  auto stub = v1::CurationService::NewStub(api.channel);
  grpc::ClientContext put;
  v1::PutSynonymsResponse response;
  REQUIRE(stub->PutSynonyms(&put, request, &response).ok());
  REQUIRE(response.results_size() == 250);
  CHECK(response.results(6).code() == 0);
  CHECK(response.results(6).version() == 1);
  CHECK(response.results(7).code() == 3);
  CHECK(response.results(7).id() == "s1007");
  v1::ListSynonymsRequest list;
  list.set_page_size(100);
  std::vector<std::string> ids;
  int pages = 0;
  do {
    grpc::ClientContext c;
    v1::ListSynonymsResponse page;
    REQUIRE(stub->ListSynonyms(&c, list, &page).ok());
    for (const auto& synonym : page.synonyms()) ids.push_back(synonym.id());
    list.set_page_token(page.next_page_token());
    ++pages;
  } while (!list.page_token().empty());
  CHECK(pages == 3);
  CHECK(ids.size() == 249);
  CHECK(std::is_sorted(ids.begin(), ids.end()));
  list.set_page_token("nonsense");
  grpc::ClientContext wrong;
  v1::ListSynonymsResponse page;
  CHECK(FieldOf(stub->ListSynonyms(&wrong, list, &page)) == "page_token");
  for (int i = 250; i <= 1000; ++i) request.add_synonyms()->set_id("x");
  grpc::ClientContext many;
  CHECK(FieldOf(stub->PutSynonyms(&many, request, &response)) == "synonyms");
}

TEST_CASE("Tenants have synonyms and rules of their own") {
  LiveServer live;
  for (const char* tenant : {"acme", "bolt"})
    PutFilms(live, std::string("tenants/") + tenant + "/collections/default/");
  int status = 0;
  HttpPut(live, "/v1/tenants/acme/collections/default/synonyms/s", R"({"words":["luminary","nova"]})",
          &status);
  REQUIRE(status == 200);
  auto json = live.Get("/v1/tenants/acme/collections/default:search?query=luminary", &status);
  CHECK(IdsOf(json) == "c ");
  json = live.Get("/v1/tenants/bolt/collections/default:search?query=luminary", &status);
  CHECK(IdsOf(json).empty());
  json = live.Get("/v1/tenants/bolt/collections/default/synonyms", &status);
  CHECK(json["synonyms"].empty());
  json = live.Get("/v1/tenants/bolt/collections/default/synonyms/s", &status);
  CHECK(status == 404);
}
