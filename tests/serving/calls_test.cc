// Reads over gRPC: names, pages, what is refused and how.
#include <grpcpp/generic/generic_stub.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/serving/api_client.h"
#include "waymark/v1/user.grpc.pb.h"

using namespace waymark;
using namespace waymark::tests;

TEST_CASE("Reads of a collection that does not exist are NOT_FOUND; a write makes it") {
  LiveServer live;
  Api api(live);
  v1::Item item;
  grpc::Status status = api.GetItem("tenants/t/collections/c/items/a", &item);
  CHECK(status.error_code() == grpc::StatusCode::NOT_FOUND);
  google::rpc::ErrorInfo info;
  REQUIRE(Find(status, &info));
  CHECK(info.reason() == "COLLECTION_NOT_FOUND");
  CHECK(info.domain() == "waymark");
  v1::PutItemsRequest request = Items(1, "tenants/t/collections/c");
  request.mutable_items(0)->set_id("a/b c");
  v1::PutItemsResponse response;
  REQUIRE(api.PutItems(request, &response).ok());
  CHECK_FALSE(response.consistency_token().empty());
  CHECK(response.results(0).version() == 1);
  REQUIRE(api.GetItem("tenants/t/collections/c/items/a/b c", &item).ok());
  CHECK(item.name() == "tenants/t/collections/c/items/a/b c");
  CHECK(item.id() == "a/b c");
  CHECK(item.fields().fields().at("year").number_value() == 1950);
  status = api.GetItem("tenants/t/collections/c/items/other", &item);
  REQUIRE(Find(status, &info));
  CHECK(info.reason() == "ITEM_NOT_FOUND");
}

TEST_CASE("Page sizes of 0, -1 and 1,000,000 are the default, refused, the maximum") {
  LiveServer live;
  Api api(live);
  v1::PutItemsResponse written;
  REQUIRE(api.PutItems(Items(1000), &written).ok());
  v1::PutItemsRequest more = Items(200);
  for (int i = 0; i < 200; ++i) more.mutable_items(i)->set_id("n" + std::to_string(i));
  REQUIRE(api.PutItems(more, &written).ok());
  v1::ListItemsRequest list;
  v1::ListItemsResponse page;
  REQUIRE(api.ListItems(list, &page).ok());
  CHECK(page.items_size() == 100);
  list.set_page_size(1000000);
  page.Clear();
  REQUIRE(api.ListItems(list, &page).ok());
  CHECK(page.items_size() == 1000);
  list.set_page_token(page.next_page_token());
  page.Clear();
  REQUIRE(api.ListItems(list, &page).ok());
  CHECK(page.items_size() == 200);
  CHECK(page.next_page_token().empty());
  // The page size may change between pages, the filter may not.
  list.set_filter("year = 1960");
  grpc::Status status = api.ListItems(list, &page);
  CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(FieldOf(status) == "page_token");
  list.set_page_token("");
  list.set_page_size(-1);
  status = api.ListItems(list, &page);
  CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(FieldOf(status) == "page_size");

  v1::SearchRequest search;
  search.set_query("star");
  search.set_consistency_token(written.consistency_token());
  v1::SearchResponse found;
  status = api.Search(search, &found);
  INFO(status.error_message());
  REQUIRE(status.ok());
  CHECK(found.results_size() == 10);
  search.set_page_size(1000000);
  found.Clear();
  REQUIRE(api.Search(search, &found).ok());
  CHECK(found.results_size() == 100);
  search.set_page_size(-1);
  status = api.Search(search, &found);
  CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(FieldOf(status) == "page_size");
}

TEST_CASE("Words are left out when there are too few hits, and the answer names them") {
  LiveServer live;
  Api api(live);
  v1::PutItemsRequest request = Items(3);
  const char* titles[] = {"red shoes", "red hat", "blue hat"};
  for (int i = 0; i < 3; ++i) {
    (*request.mutable_items(i)->mutable_fields()->mutable_fields())["title"].set_string_value(titles[i]);
  }
  v1::PutItemsResponse written;
  REQUIRE(api.PutItems(request, &written).ok());
  v1::SearchRequest search;
  search.set_query("red boots");
  search.set_match(v1::SearchRequest::ALL);
  search.set_consistency_token(written.consistency_token());
  v1::SearchResponse found;
  REQUIRE(api.Search(search, &found).ok());
  CHECK(found.total_size() == 0);
  CHECK(found.left_out_words_size() == 0);
  search.set_relax_below(1);
  REQUIRE(api.Search(search, &found).ok());
  CHECK(found.total_size() == 2);
  REQUIRE(found.left_out_words_size() == 1);
  CHECK(found.left_out_words(0) == "boots");
  search.set_relax_below(-1);
  CHECK(FieldOf(api.Search(search, &found)) == "relax_below");
  search.set_relax_below(0);
  search.set_minimum_match("2");
  CHECK(FieldOf(api.Search(search, &found)) == "minimum_match");  // beside ALL
  search.set_match(v1::SearchRequest::ANY);
  search.set_query("red blue hat");
  REQUIRE(api.Search(search, &found).ok());
  CHECK(found.total_size() == 2);
  search.set_minimum_match("some");
  CHECK(FieldOf(api.Search(search, &found)) == "minimum_match");
}

TEST_CASE("A total is exact up to what is asked, beyond that at least so many; facets count all") {
  LiveServer live;
  Api api(live);
  // 700 hold «star», 700 «moon», 200 of them both.
  v1::PutItemsResponse written;
  for (int from : {0, 600}) {
    v1::PutItemsRequest request = Items(600);
    for (int i = 0; i < 600; ++i) {
      const int n = from + i;
      request.mutable_items(i)->set_id("n" + std::to_string(n));
      (*request.mutable_items(i)->mutable_fields()->mutable_fields())["title"].set_string_value(
          n < 500   ? "star"
          : n < 700 ? "star moon"
                    : "moon");
    }
    REQUIRE(api.PutItems(request, &written).ok());
  }
  v1::SearchRequest search;
  search.set_query("star moon");
  search.set_page_size(100);
  search.set_consistency_token(written.consistency_token());
  v1::SearchResponse all, found;
  REQUIRE(api.Search(search, &all).ok());
  CHECK(all.total_size() == 1200);
  CHECK(all.total_size_relation() == v1::EXACT);
  const auto check = [&](int64_t limit, int64_t least, bool exact) {
    INFO(limit << " " << search.filter());
    search.set_exact_total_limit(limit);
    found.Clear();
    REQUIRE(api.Search(search, &found).ok());
    CHECK(found.total_size() >= least);
    CHECK(found.total_size() <= 1200);
    CHECK(found.total_size_relation() == (exact ? v1::EXACT : v1::AT_LEAST));
    REQUIRE(found.results_size() == 100);
    for (int i = 0; i < 100; ++i) CHECK(found.results(i).item().id() == all.results(i).item().id());
  };
  check(1200, 1200, true);
  check(1199, 1200, false);
  check(0, 700, false);
  // A later page says what the first did.
  search.set_page_token(found.next_page_token());
  v1::SearchResponse second;
  REQUIRE(api.Search(search, &second).ok());
  CHECK(second.total_size() == found.total_size());
  CHECK(second.total_size_relation() == v1::AT_LEAST);
  search.set_exact_total_limit(1);
  CHECK(FieldOf(api.Search(search, &second)) == "page_token");
  search.set_page_token("");
  search.set_filter("year > 0");
  check(100, 101, false);
  search.add_facets()->set_field("year");
  check(100, 1200, true);
  search.clear_facets();
  search.clear_filter();
  search.set_query("star");  // the index knows
  search.set_exact_total_limit(0);
  REQUIRE(api.Search(search, &found).ok());
  CHECK(found.total_size() == 700);
  CHECK(found.total_size_relation() == v1::EXACT);
  search.set_exact_total_limit(-1);
  CHECK(FieldOf(api.Search(search, &found)) == "exact_total_limit");
}

TEST_CASE("A misspelled word is corrected and shown where it stands, unless typo_tolerance is OFF") {
  LiveServer live;
  Api api(live);
  v1::PutItemsRequest request = Items(1);
  (*request.mutable_items(0)->mutable_fields()->mutable_fields())["title"].set_string_value(
      "Généraux & generals");
  v1::PutItemsResponse written;
  REQUIRE(api.PutItems(request, &written).ok());
  v1::SearchRequest search;
  search.set_query("generlas");
  search.set_consistency_token(written.consistency_token());
  search.mutable_highlight()->add_fields("title");
  search.mutable_highlight()->set_pre_tag("[");
  search.mutable_highlight()->set_post_tag("]");
  v1::SearchResponse found;
  grpc::Status status = api.Search(search, &found);
  INFO(status.error_message());
  REQUIRE(status.ok());
  CHECK(found.corrected_query() == "generals");
  REQUIRE(found.results_size() == 1);
  REQUIRE(found.results(0).highlights_size() == 1);
  const v1::Result::Highlight& highlight = found.results(0).highlights(0);
  CHECK(highlight.field() == "title");
  CHECK(highlight.snippet() == "Généraux &amp; [generals]");
  REQUIRE(highlight.matches_size() == 1);
  CHECK(highlight.matches(0).begin() == 11);
  CHECK(highlight.matches(0).end() == 19);
  CHECK(highlight.matches(0).word() == "generlas");
  search.mutable_highlight()->set_offsets_only(true);
  REQUIRE(api.Search(search, &found).ok());
  CHECK(found.results(0).highlights(0).snippet().empty());
  search.mutable_highlight()->set_snippet_length(-1);
  CHECK(FieldOf(api.Search(search, &found)) == "highlight.snippet_length");
  search.clear_highlight();
  search.set_typo_tolerance(v1::SearchRequest::OFF);
  REQUIRE(api.Search(search, &found).ok());
  CHECK(found.results_size() == 0);
  CHECK(found.corrected_query().empty());
  search.set_typo_tolerance(static_cast<v1::SearchRequest::TypoTolerance>(77));
  CHECK(FieldOf(api.Search(search, &found)) == "typo_tolerance");
}

TEST_CASE("Pages of a filtered list hold each item once, in order") {
  LiveServer live;
  Api api(live);
  Put(&api, 700);
  v1::ListItemsRequest list;
  list.set_filter("year >= 1980 AND year < 1990");
  list.set_page_size(7);
  std::vector<std::string> seen;
  do {
    v1::ListItemsResponse page;
    const grpc::Status status = api.ListItems(list, &page);
    INFO(status.error_message());
    REQUIRE(status.ok());
    for (const auto& item : page.items()) seen.push_back(item.id());
    list.set_page_token(page.next_page_token());
  } while (!list.page_token().empty());
  std::vector<std::string> want;
  for (int i = 0; i < 700; ++i) {
    if (i % 70 >= 30 && i % 70 < 40) want.push_back("m" + std::to_string(i));
  }
  CHECK(seen == want);
}

TEST_CASE("Bad input is INVALID_ARGUMENT and names the field") {
  LiveServer live;
  Api api(live);
  Put(&api, 3);
  v1::SearchResponse found;
  v1::SearchRequest search;
  search.set_query(std::string(100000, 'q'));
  grpc::Status status = api.Search(search, &found);
  CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(FieldOf(status) == "query");
  search.set_query("star");
  search.set_filter("yaer = 1990");
  CHECK(FieldOf(api.Search(search, &found)) == "filter");
  search.clear_filter();
  search.set_parent("tenants/T");
  CHECK(FieldOf(api.Search(search, &found)) == "parent");
  search.clear_parent();
  search.set_personalization(static_cast<v1::Personalization>(77));
  CHECK(FieldOf(api.Search(search, &found)) == "personalization");
  search.clear_personalization();
  search.set_consistency_token("nonsense");
  CHECK(FieldOf(api.Search(search, &found)) == "consistency_token");
  search.clear_consistency_token();
  (*search.mutable_context()->mutable_fields())["n"].set_number_value(std::nan(""));
  status = api.Search(search, &found);
  CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(FieldOf(status).find("context") == 0);

  v1::RecommendRequest feed;
  v1::RecommendResponse answer;
  for (const double wrong : {std::nan(""), -0.1, 1.1, std::numeric_limits<double>::infinity()}) {
    feed.set_diversity(wrong);
    CHECK(FieldOf(api.Recommend(feed, &answer)) == "diversity");
  }
  feed.set_diversity(0);
  feed.mutable_exclude_seen()->mutable_within()->set_seconds(-5);
  CHECK(FieldOf(api.Recommend(feed, &answer)) == "exclude_seen.within");

  v1::PutItemsResponse written;
  CHECK(FieldOf(api.PutItems({}, &written)) == "items");
  CHECK(FieldOf(api.PutItems(Items(1001), &written)) == "items");
  v1::DeleteItemsResponse deleted;
  CHECK(FieldOf(api.DeleteItems({}, &deleted)) == "ids");
}

TEST_CASE("Events are listed in log order, and of one user from the newest back, page by page") {
  LiveServer live;
  Api api(live);
  Put(&api, 10);
  v1::WriteEventsRequest request;
  for (int i = 0; i < 10; ++i) {
    *request.add_events() =
        EventOf("e" + std::to_string(i), i % 2 == 0 ? "even" : "odd", "m" + std::to_string(i));
    request.mutable_events(i)->mutable_time()->set_seconds(1000000 + i);
    request.mutable_events(i)->set_position(i);
  }
  v1::WriteEventsResponse written;
  REQUIRE(api.WriteEvents(request, &written).ok());
  const auto ids = [&](const std::string& user) {
    std::string all;
    v1::ListEventsRequest list;
    list.set_user_id(user);
    list.set_page_size(3);
    do {
      v1::ListEventsResponse page;
      const grpc::Status status = api.ListEvents(list, &page);
      INFO(status.error_message());
      REQUIRE(status.ok());
      REQUIRE(page.events_size() <= 3);
      for (const auto& event : page.events()) {
        all += event.event_id() + " ";
        CHECK(event.item_id() == "m" + event.event_id().substr(1));
        CHECK(event.position() == std::stoi(event.event_id().substr(1)));
        CHECK(event.type() == "view");
      }
      list.set_page_token(page.next_page_token());
    } while (!list.page_token().empty());
    return all;
  };
  CHECK(ids("") == "e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 ");
  CHECK(ids("even") == "e8 e6 e4 e2 e0 ");

  grpc::ClientContext context;
  v1::GetUserStateRequest state_request;
  state_request.set_user_id("odd");
  state_request.set_history_limit(2);
  v1::UserState state;
  REQUIRE(v1::UserService::NewStub(api.channel)->GetUserState(&context, state_request, &state).ok());
  REQUIRE(state.history_size() == 2);
  CHECK(state.history(0).item_id() == "m9");
  CHECK(state.history(0).time().seconds() == 1000009);
  CHECK(state.history(1).item_id() == "m7");
}

TEST_CASE("A consistency token of what has never been written is refused by name") {
  LiveServer live;
  Api api(live);
  Put(&api, 1);
  v1::SearchRequest search;
  search.set_query("star");
  search.set_consistency_token(EncodeConsistencyToken(
      EmbeddedPosition(live.engine->store().epoch(), live.engine->store().End() + 1000)));
  v1::SearchResponse response;
  CHECK(FieldOf(api.Search(search, &response)) == "consistency_token");
}

TEST_CASE("A message that cannot be read is INVALID_ARGUMENT and says so") {
  LiveServer live;
  // "query" with bytes that are no UTF-8; generated stubs would not send it.
  const std::string bytes = "\x12\x02\xff\xfe";
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer message(&slice, 1);
  grpc::GenericStub stub(live.channel());
  for (const char* method : {"/waymark.v1.SearchService/Search", "/waymark.v1.CatalogService/PutItems"}) {
    INFO(method);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    auto call = stub.PrepareUnaryCall(&context, method, message, &queue);
    call->StartCall();
    grpc::ByteBuffer answer;
    grpc::Status status;
    call->Finish(&answer, &status, &queue);
    void* tag = nullptr;
    bool ok = false;
    REQUIRE(queue.Next(&tag, &ok));
    CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
    CHECK_THAT(status.error_message(), Catch::Contains("UTF-8"));
  }
}
