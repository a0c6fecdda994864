// What keeps a busy server quick: admission, deadlines, sizes.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "absl/time/clock.h"
#include "tests/serving/api_client.h"

using namespace waymark;
using namespace waymark::tests;

namespace {

// One connection, which is not opened again by itself.
class RawConnection {
 public:
  explicit RawConnection(const LiveServer& live) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string where = live.server->http_address();
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(where.substr(where.rfind(':') + 1))));
    REQUIRE(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  }
  ~RawConnection() { close(fd_); }
  bool Healthy() {
    const std::string request = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    if (send(fd_, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
      return false;
    std::string answer;
    char part[512];
    while (answer.find("}") == std::string::npos) {
      const ssize_t got = recv(fd_, part, sizeof(part), 0);
      if (got <= 0) return false;
      answer.append(part, static_cast<size_t>(got));
    }
    return answer.find("HTTP/1.1 200") == 0;
  }

 private:
  int fd_;
};

}  // namespace

TEST_CASE("An idle connection is kept while no other waits for its thread") {
  LiveServer live({.http_threads = 1});
  RawConnection first(live);
  REQUIRE(first.Healthy());
  absl::SleepFor(absl::Milliseconds(4500));  // over twice what clients are promised
  CHECK(first.Healthy());
  RawConnection second(live);
  CHECK(second.Healthy());  // when the first, idle one has made way
  CHECK_FALSE(first.Healthy());
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
