// kill -9 of a serving `waymark` at random moments under writers that record what was answered. After each
// restart everything that was answered is there, nothing twice, and everything derived catches up by itself.
//
// WAYMARK_CRASH_ROUNDS: how many kills (4 in ctest).
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/app/program.h"
#include "waymark/v1/admin.grpc.pb.h"
#include "waymark/v1/catalog.grpc.pb.h"
#include "waymark/v1/event.grpc.pb.h"
#include "waymark/v1/recommend.grpc.pb.h"
#include "waymark/v1/search.grpc.pb.h"
#include "waymark/v1/user.grpc.pb.h"

namespace waymark {
namespace {

using tests::AddressAfter;
using tests::Process;
using tests::Sandbox;

constexpr int kItems = 200, kWriters = 3;

// What servers have answered; outlives them.
struct Answered {
  std::mutex mutex;
  std::map<std::string, int64_t> items;  // id -> newest revision that was answered
  std::set<std::string> users;
  std::map<std::string, std::string> events;  // event id -> user
  std::string token;                          // of the newest answer
};

struct Connection {
  explicit Connection(const std::string& address)
      : channel(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())) {}
  std::shared_ptr<grpc::Channel> channel;
};

// Writes until a call fails: the server is gone.
void Write(const std::string& address, int writer, std::atomic<int64_t>* next, Answered* answered) {
  Connection connection(address);
  auto catalog = v1::CatalogService::NewStub(connection.channel);
  auto users = v1::UserService::NewStub(connection.channel);
  auto events = v1::EventService::NewStub(connection.channel);
  while (true) {
    const int64_t n = (*next)++;
    const std::string item = absl::StrCat("i", n % kItems), user = absl::StrCat("u", n % 37);
    grpc::ClientContext a, b, c;
    v1::PutItemsRequest put;
    v1::PutItemsResponse put_answer;
    auto* put_item = put.add_items();
    put_item->set_id(item);
    (*put_item->mutable_fields()->mutable_fields())["title"].set_string_value("thing " + item);
    (*put_item->mutable_fields()->mutable_fields())["revision"].set_number_value(static_cast<double>(n));
    if (!catalog->PutItems(&a, put, &put_answer).ok()) return;
    {
      std::lock_guard<std::mutex> lock(answered->mutex);
      answered->items[item] = std::max(answered->items[item], n);
    }
    v1::PutUsersRequest put_user;
    v1::PutUsersResponse put_user_answer;
    put_user.add_users()->set_id(user);
    if (!users->PutUsers(&b, put_user, &put_user_answer).ok()) return;
    v1::WriteEventsRequest write;
    v1::WriteEventsResponse write_answer;
    auto* event = write.add_events();
    event->set_event_id(absl::StrCat("e", writer, "-", n));
    event->set_type("view");
    event->set_user_id(user);
    event->set_item_id(item);
    if (!events->WriteEvents(&c, write, &write_answer).ok()) return;
    std::lock_guard<std::mutex> lock(answered->mutex);
    answered->users.insert(user);
    answered->events[event->event_id()] = user;
    answered->token = write_answer.consistency_token();
  }
}

void CheckEverything(const std::string& address, const std::string& admin, const Answered& answered) {
  Connection connection(address), admin_connection(admin);
  auto catalog = v1::CatalogService::NewStub(connection.channel);
  std::map<std::string, int64_t> items;
  v1::ListItemsRequest list;
  list.set_page_size(1000);
  while (true) {
    grpc::ClientContext context;
    v1::ListItemsResponse page;
    REQUIRE(catalog->ListItems(&context, list, &page).ok());
    for (const auto& item : page.items()) {
      CHECK(items.emplace(item.id(), item.fields().fields().at("revision").number_value()).second);
    }
    if (page.next_page_token().empty()) break;
    list.set_page_token(page.next_page_token());
  }
  for (const auto& [id, revision] : answered.items) {
    INFO("item " << id << " answered at revision " << revision);
    REQUIRE(items.contains(id));
    CHECK(items[id] >= revision);
  }
  // Every event once.
  std::multiset<std::string> events;
  auto event_service = v1::EventService::NewStub(connection.channel);
  grpc::ClientContext export_context;
  v1::ExportEventsRequest all;
  auto reader = event_service->ExportEvents(&export_context, all);
  v1::Event event;
  while (reader->Read(&event)) events.insert(event.event_id());
  REQUIRE(reader->Finish().ok());
  size_t lost = 0, doubled = 0;
  for (const auto& [id, user] : answered.events) {
    if (events.count(id) == 0) ++lost;
    if (events.count(id) > 1) ++doubled;
  }
  CHECK(lost == 0);
  CHECK(doubled == 0);
  for (const std::string& user : answered.users) {
    grpc::ClientContext context;
    v1::GetUserRequest get;
    get.set_name("users/" + user);
    v1::User found;
    CHECK(v1::UserService::NewStub(connection.channel)->GetUser(&context, get, &found).ok());
  }
  // Everything derived catches up: a read with the newest answer's token waits for it.
  if (!answered.token.empty()) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    v1::SearchRequest search;
    search.set_query("thing");
    search.set_page_size(1);
    search.set_consistency_token(answered.token);
    v1::SearchResponse found;
    const grpc::Status status =
        v1::SearchService::NewStub(connection.channel)->Search(&context, search, &found);
    INFO(status.error_message());
    REQUIRE(status.ok());
    CHECK(found.total_size() == static_cast<int64_t>(items.size()));
  }
  grpc::ClientContext context;
  v1::Status status;
  REQUIRE(v1::AdminService::NewStub(admin_connection.channel)->GetStatus(&context, {}, &status).ok());
  if (status.collections_size() > 0) {
    CHECK(status.collections(0).items() == static_cast<int64_t>(items.size()));
    CHECK(status.collections(0).events() == static_cast<int64_t>(events.size()));
  }
}

TEST_CASE(
    "what was answered survives kill -9 at random moments, nothing twice, and what is derived catches up") {
  const char* given = std::getenv("WAYMARK_CRASH_ROUNDS");
  const int rounds = given == nullptr ? 4 : std::atoi(given);
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  Sandbox sandbox;
  Answered answered;
  std::atomic<int64_t> next{0};
  for (int round = 0; round <= rounds; ++round) {
    INFO("round " << round);
    auto server = sandbox.Start(
        {"serve", "--data", "d", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"});
    REQUIRE(server->WaitFor("admin  127.0.0.1:"));
    const std::string output = server->Output();
    const std::string address = AddressAfter(output, "gRPC"), admin = AddressAfter(output, "admin");
    if (round > 0) CheckEverything(address, admin, answered);  // before, there is no collection
    if (round == rounds) break;
    std::vector<std::thread> writers;
    for (int w = 0; w < kWriters; ++w) writers.emplace_back(Write, address, w, &next, &answered);
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::uniform_int_distribution<int>(30, 1500)(random)));
    server->Signal(SIGKILL);
    server->Wait();
    for (std::thread& writer : writers) writer.join();
  }
  CHECK(answered.events.size() > static_cast<size_t>(rounds));
  std::printf("%d kills, %zu items, %zu users and %zu events answered\n", rounds, answered.items.size(),
              answered.users.size(), answered.events.size());
}

}  // namespace
}  // namespace waymark
