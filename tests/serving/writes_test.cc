// Writes over gRPC: batches, streams, events, erasure, packages.
#include <cmath>

#include "tests/serving/api_client.h"
#include "waymark/v1/model.grpc.pb.h"
#include "waymark/v1/user.grpc.pb.h"

using namespace waymark;
using namespace waymark::tests;

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
