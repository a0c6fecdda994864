// Calls over gRPC: what is refused and how, batches, streams, limits.
#include <cmath>
#include <limits>
#include <thread>

#include "absl/time/clock.h"
#include "google/rpc/error_details.pb.h"
#include "tests/serving/live_server.h"
#include "tests/support/catch.h"
#include "waymark/v1/catalog.grpc.pb.h"
#include "waymark/v1/event.grpc.pb.h"
#include "waymark/v1/model.grpc.pb.h"
#include "waymark/v1/rank.grpc.pb.h"
#include "waymark/v1/recommend.grpc.pb.h"
#include "waymark/v1/search.grpc.pb.h"
#include "waymark/v1/user.grpc.pb.h"

using namespace waymark;
using namespace waymark::tests;

namespace {

// Stubs of one channel, each call with a context of its own.
struct Api {
  explicit Api(const LiveServer& live) : channel(live.channel()) {}
  std::shared_ptr<grpc::Channel> channel;

  grpc::Status PutItems(const v1::PutItemsRequest& q, v1::PutItemsResponse* r) {
    grpc::ClientContext c;
    return v1::CatalogService::NewStub(channel)->PutItems(&c, q, r);
  }
  grpc::Status ListItems(const v1::ListItemsRequest& q, v1::ListItemsResponse* r) {
    grpc::ClientContext c;
    return v1::CatalogService::NewStub(channel)->ListItems(&c, q, r);
  }
  grpc::Status GetItem(const std::string& name, v1::Item* r) {
    grpc::ClientContext c;
    v1::GetItemRequest q;
    q.set_name(name);
    return v1::CatalogService::NewStub(channel)->GetItem(&c, q, r);
  }
  grpc::Status DeleteItems(const v1::DeleteItemsRequest& q, v1::DeleteItemsResponse* r) {
    grpc::ClientContext c;
    return v1::CatalogService::NewStub(channel)->DeleteItems(&c, q, r);
  }
  grpc::Status WriteEvents(const v1::WriteEventsRequest& q, v1::WriteEventsResponse* r) {
    grpc::ClientContext c;
    return v1::EventService::NewStub(channel)->WriteEvents(&c, q, r);
  }
  grpc::Status ListEvents(const v1::ListEventsRequest& q, v1::ListEventsResponse* r) {
    grpc::ClientContext c;
    return v1::EventService::NewStub(channel)->ListEvents(&c, q, r);
  }
  grpc::Status Search(const v1::SearchRequest& q, v1::SearchResponse* r, int timeout_ms = 0) {
    grpc::ClientContext c;
    if (timeout_ms > 0)
      c.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(timeout_ms));
    return v1::SearchService::NewStub(channel)->Search(&c, q, r);
  }
  grpc::Status Recommend(const v1::RecommendRequest& q, v1::RecommendResponse* r) {
    grpc::ClientContext c;
    return v1::RecommendService::NewStub(channel)->Recommend(&c, q, r);
  }
};

std::string FieldOf(const grpc::Status& status) {
  google::rpc::BadRequest bad;
  return Find(status, &bad) && bad.field_violations_size() > 0 ? bad.field_violations(0).field() : "";
}

v1::PutItemsRequest Items(int count, const std::string& parent = "") {
  v1::PutItemsRequest request;
  request.set_parent(parent);
  for (int i = 0; i < count; ++i) {
    v1::Item* item = request.add_items();
    item->set_id("m" + std::to_string(i));
    (*item->mutable_fields()->mutable_fields())["title"].set_string_value("Star number " + std::to_string(i));
    (*item->mutable_fields()->mutable_fields())["year"].set_number_value(1950 + i % 70);
  }
  return request;
}

void Put(Api* api, int count) {
  v1::PutItemsResponse response;
  const grpc::Status status = api->PutItems(Items(count), &response);
  INFO(status.error_message());
  REQUIRE(status.ok());
  for (const auto& result : response.results()) REQUIRE(result.code() == 0);
}

v1::Event EventOf(const std::string& id, const std::string& user, const std::string& item) {
  v1::Event event;
  event.set_event_id(id);
  event.set_type("view");
  event.set_user_id(user);
  event.set_item_id(item);
  return event;
}

}  // namespace

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

TEST_CASE("A batch refuses its bad entries by name and writes the others") {
  LiveServer live;
  Api api(live);
  v1::PutItemsRequest request = Items(4);
  request.mutable_items(1)->set_id("");
  (*request.mutable_items(2)->mutable_fields()->mutable_fields())["price"].set_number_value(std::nan(""));
  v1::PutItemsResponse response;
  REQUIRE(api.PutItems(request, &response).ok());
  REQUIRE(response.results_size() == 4);
  CHECK(response.results(0).code() == 0);
  CHECK(response.results(1).code() == 3);
  CHECK(response.results(1).message().find("id") != std::string::npos);
  CHECK(response.results(2).code() == 3);
  CHECK(response.results(2).message().find("price") != std::string::npos);
  CHECK(response.results(3).code() == 0);
  CHECK(response.results(3).id() == "m3");
}

TEST_CASE("Items are deleted by filter, in as many batches as it takes") {
  LiveServer live;
  Api api(live);
  Put(&api, 1000);
  v1::PutItemsRequest more = Items(500);
  for (int i = 0; i < 500; ++i) more.mutable_items(i)->set_id("n" + std::to_string(i));
  v1::PutItemsResponse written;
  REQUIRE(api.PutItems(more, &written).ok());
  v1::DeleteItemsRequest request;
  request.set_filter("year >= 1951");
  v1::DeleteItemsResponse deleted;
  const grpc::Status status = api.DeleteItems(request, &deleted);
  INFO(status.error_message());
  REQUIRE(status.ok());
  // 15 of 1,000 and 8 of 500 numbers are multiples of 70: they are of 1950.
  CHECK(deleted.deleted() == 1500 - 15 - 8);
  v1::ListItemsRequest list;
  list.set_page_size(1000);
  v1::ListItemsResponse page;
  REQUIRE(api.ListItems(list, &page).ok());
  CHECK(page.items_size() == 23);
}

TEST_CASE("An import counts refused entries, tells where they are, and goes on") {
  LiveServer live;
  Api api(live);
  grpc::ClientContext context;
  v1::ImportItemsResponse response;
  auto stub = v1::CatalogService::NewStub(api.channel);
  auto writer = stub->ImportItems(&context, &response);
  for (int message = 0; message < 3; ++message) {
    v1::ImportItemsRequest request;
    for (int i = 0; i < 500; ++i) {
      v1::Item* item = request.add_items();
      if (i != 7) item->set_id("m" + std::to_string(message * 500 + i));
    }
    REQUIRE(writer->Write(request));
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  INFO(status.error_message());
  REQUIRE(status.ok());
  CHECK(response.written() == 1497);
  CHECK(response.refused() == 3);
  REQUIRE(response.errors_size() == 3);
  CHECK(response.errors(0).line() == 8);
  CHECK(response.errors(2).line() == 1008);
  CHECK_FALSE(response.consistency_token().empty());

  grpc::ClientContext second;
  v1::ExportItemsRequest request;
  auto reader = stub->ExportItems(&second, request);
  v1::Item item;
  int count = 0;
  while (reader->Read(&item)) ++count;
  CHECK(reader->Finish().ok());
  CHECK(count == 1497);
}

TEST_CASE("An export whose reader goes away ends") {
  LiveServer live;
  Api api(live);
  Put(&api, 1000);
  grpc::ClientContext context;
  auto stub = v1::CatalogService::NewStub(api.channel);
  auto reader = stub->ExportItems(&context, {});
  v1::Item item;
  REQUIRE(reader->Read(&item));
  context.TryCancel();
  while (reader->Read(&item)) {
  }
  CHECK(reader->Finish().error_code() == grpc::StatusCode::CANCELLED);
}

TEST_CASE("An import goes to one collection") {
  LiveServer live;
  Api api(live);
  grpc::ClientContext context;
  v1::ImportItemsResponse response;
  auto writer = v1::CatalogService::NewStub(api.channel)->ImportItems(&context, &response);
  v1::ImportItemsRequest request;
  request.set_parent("collections/a");
  request.add_items()->set_id("x");
  writer->Write(request);
  request.set_parent("collections/b");
  writer->Write(request);
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(FieldOf(status) == "parent");
}

TEST_CASE("Events are written once for their id, and refused by name") {
  LiveServer live;
  Api api(live);
  Put(&api, 3);
  v1::WriteEventsRequest request;
  *request.add_events() = EventOf("e1", "u1", "m1");
  *request.add_events() = EventOf("e1", "u1", "m1");
  *request.add_events() = EventOf("e2", "u1", "m2");
  request.mutable_events(2)->set_attribution_token("forged");
  *request.add_events() = EventOf("e3", "u1", "m2");
  request.mutable_events(3)->set_type("dance");
  *request.add_events() = EventOf("e4", "u1", "m2");
  request.mutable_events(4)->add_items()->set_item_id("m0");
  *request.add_events() = EventOf("e5", "u1", "m2");
  request.mutable_events(5)->mutable_time()->set_nanos(-1);
  v1::WriteEventsResponse response;
  const grpc::Status status = api.WriteEvents(request, &response);
  INFO(status.error_message());
  REQUIRE(status.ok());
  REQUIRE(response.results_size() == 6);
  CHECK(response.duplicates() == 1);
  CHECK(response.results(0).code() == 0);
  CHECK(response.results(1).code() == 0);
  CHECK(response.results(2).code() == 3);
  CHECK(response.results(2).message().find("event.attribution_token: ") == 0);
  CHECK(response.results(2).id() == "e2");
  CHECK(response.results(3).message().find("dance") != std::string::npos);
  CHECK(response.results(4).message().find("event.item_id: ") == 0);
  CHECK(response.results(5).message().find("event.time: ") == 0);
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

TEST_CASE("A user that is deleted is gone from every read") {
  LiveServer live;
  Api api(live);
  auto stub = v1::UserService::NewStub(api.channel);
  v1::PutUsersRequest put;
  put.add_users()->set_id("u1");
  put.add_users()->set_id("u2");
  {
    grpc::ClientContext context;
    v1::PutUsersResponse response;
    REQUIRE(stub->PutUsers(&context, put, &response).ok());
  }
  v1::WriteEventsRequest events;
  *events.add_events() = EventOf("e1", "u1", "m1");
  *events.add_events() = EventOf("e2", "u2", "m1");
  v1::WriteEventsResponse written;
  REQUIRE(api.WriteEvents(events, &written).ok());
  v1::DeleteUserRequest erase;
  erase.set_name("users/u1");
  {
    grpc::ClientContext context;
    v1::DeleteUserResponse response;
    const grpc::Status status = stub->DeleteUser(&context, erase, &response);
    INFO(status.error_message());
    REQUIRE(status.ok());
  }
  v1::User user;
  v1::GetUserRequest get;
  get.set_name("users/u1");
  grpc::ClientContext context;
  CHECK(stub->GetUser(&context, get, &user).error_code() == grpc::StatusCode::NOT_FOUND);
  grpc::ClientContext second;
  v1::ListUsersResponse users;
  REQUIRE(stub->ListUsers(&second, {}, &users).ok());
  REQUIRE(users.users_size() == 1);
  CHECK(users.users(0).name() == "tenants/default/collections/default/users/u2");
  v1::ListEventsResponse left;
  REQUIRE(api.ListEvents({}, &left).ok());
  REQUIRE(left.events_size() == 1);
  CHECK(left.events(0).event_id() == "e2");
}

TEST_CASE("What is over the limit of concurrent calls is refused with a time to come back") {
  LiveServer live({.max_concurrent_requests = 2});
  Api api(live);
  Put(&api, 1);
  live.engine->gate().Close();
  v1::SearchRequest search;
  search.set_query("star");
  grpc::Status first, second;
  v1::SearchResponse a, b, c;
  std::thread one([&] { first = api.Search(search, &a, 20000); });
  std::thread two([&] { second = api.Search(search, &b, 20000); });
  live.engine->gate().AwaitWaiting(2);
  const grpc::Status third = api.Search(search, &c);
  CHECK(third.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  google::rpc::RetryInfo retry;
  REQUIRE(Find(third, &retry));
  CHECK(retry.retry_delay().nanos() == 500000000);
  google::rpc::ErrorInfo info;
  REQUIRE(Find(third, &info));
  CHECK(info.reason() == "SERVER_BUSY");
  int http = 0;
  const auto json = live.Post("/v1/search", R"({"query":"star"})", &http);
  CHECK(http == 429);
  CHECK(json["error"]["status"] == "RESOURCE_EXHAUSTED");
  live.engine->gate().Open();
  one.join();
  two.join();
  CHECK(first.ok());
  CHECK(second.ok());
  CHECK(api.Search(search, &c).ok());
}

TEST_CASE("A call that is still waiting at its deadline is not run") {
  LiveServer live({.worker_threads = 1});
  Api api(live);
  Put(&api, 1);
  live.engine->gate().Close();
  v1::SearchRequest search;
  search.set_query("star");
  grpc::Status first;
  v1::SearchResponse a, b;
  std::thread one([&] { first = api.Search(search, &a, 20000); });
  live.engine->gate().AwaitWaiting(1);
  const absl::Time before = absl::Now();
  CHECK(api.Search(search, &b, 200).error_code() == grpc::StatusCode::DEADLINE_EXCEEDED);
  CHECK(absl::Now() - before < absl::Seconds(5));
  live.engine->gate().Open();
  one.join();
  CHECK(first.ok());
}

TEST_CASE("A read waits for what its token covers no longer than its deadline, and holds up no other") {
  LiveServer live({.worker_threads = 1});
  Api api(live);
  v1::PutItemsResponse written;
  REQUIRE(api.PutItems(Items(1), &written).ok());
  live.engine->gate().SetStale(true);
  v1::SearchRequest search;
  search.set_query("star");
  search.set_consistency_token(written.consistency_token());
  grpc::Status stale;
  v1::SearchResponse a, b;
  std::thread waiting([&] { stale = api.Search(search, &a, 3000); });
  absl::SleepFor(absl::Milliseconds(100));
  search.clear_consistency_token();
  const absl::Time before = absl::Now();
  CHECK(api.Search(search, &b).ok());
  CHECK(absl::Now() - before < absl::Seconds(2));
  waiting.join();
  CHECK(stale.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED);
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

TEST_CASE("Messages over a method's limit are RESOURCE_EXHAUSTED") {
  LiveServer live;
  Api api(live);
  v1::WriteEventsRequest request;
  for (int i = 0; i < 30; ++i) {
    *request.add_events() = EventOf("e" + std::to_string(i), "u", "m");
    (*request.mutable_events(i)->mutable_properties()->mutable_fields())["x"].set_string_value(
        std::string(80000, 'x'));
  }
  v1::WriteEventsResponse response;
  const grpc::Status status = api.WriteEvents(request, &response);
  CHECK(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  google::rpc::ErrorInfo info;
  REQUIRE(Find(status, &info));
  CHECK(info.reason() == "REQUEST_TOO_LARGE");
}

TEST_CASE("A model package with a file name that leads elsewhere is refused, and nothing stays behind") {
  LiveServer live;
  Api api(live);
  for (const char* name : {"../manifest.json", "/etc/passwd", ".hidden", "", "a/b"}) {
    INFO(name);
    grpc::ClientContext context;
    v1::Model response;
    auto writer = v1::ModelService::NewStub(api.channel)->ImportModel(&context, &response);
    v1::ImportModelRequest request;
    request.set_file_name(name);
    request.set_data("x");
    writer->Write(request);
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
    CHECK(FieldOf(status) == "file_name");
  }
  grpc::ClientContext context;
  v1::Model response;
  auto writer = v1::ModelService::NewStub(api.channel)->ImportModel(&context, &response);
  v1::ImportModelRequest request;
  request.set_file_name("manifest.json");
  request.set_data("{}");
  writer->Write(request);
  writer->WritesDone();
  CHECK_FALSE(writer->Finish().ok());
  const auto incoming = live.folder.path / "data" / "incoming";
  CHECK((!std::filesystem::exists(incoming) || std::filesystem::is_empty(incoming)));
}
