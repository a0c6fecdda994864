// Calls of the API over gRPC, each with a context of its own, and requests that several tests send.
#pragma once
#include <memory>
#include <string>

#include "google/rpc/error_details.pb.h"
#include "tests/serving/live_server.h"
#include "tests/support/catch.h"
#include "waymark/v1/catalog.grpc.pb.h"
#include "waymark/v1/event.grpc.pb.h"
#include "waymark/v1/recommend.grpc.pb.h"
#include "waymark/v1/search.grpc.pb.h"

namespace waymark::tests {

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

inline std::string FieldOf(const grpc::Status& status) {
  google::rpc::BadRequest bad;
  return Find(status, &bad) && bad.field_violations_size() > 0 ? bad.field_violations(0).field() : "";
}

inline v1::PutItemsRequest Items(int count, const std::string& parent = "") {
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

inline void Put(Api* api, int count) {
  v1::PutItemsResponse response;
  const grpc::Status status = api->PutItems(Items(count), &response);
  INFO(status.error_message());
  REQUIRE(status.ok());
  for (const auto& result : response.results()) REQUIRE(result.code() == 0);
}

inline v1::Event EventOf(const std::string& id, const std::string& user, const std::string& item) {
  v1::Event event;
  event.set_event_id(id);
  event.set_type("view");
  event.set_user_id(user);
  event.set_item_id(item);
  return event;
}

}  // namespace waymark::tests
