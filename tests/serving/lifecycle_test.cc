// Ports, health, reflection, shutdown.
#include <arpa/inet.h>
#include <grpcpp/generic/generic_stub.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "absl/time/clock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "store/server_file.h"
#include "tests/serving/live_server.h"
#include "tests/support/catch.h"
#include "waymark/v1/admin.grpc.pb.h"
#include "waymark/v1/catalog.grpc.pb.h"
#include "waymark/v1/search.grpc.pb.h"

using namespace waymark;
using namespace waymark::tests;
using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

namespace {

grpc::Status Check(const std::shared_ptr<grpc::Channel>& channel, const std::string& service,
                   HealthCheckResponse::ServingStatus* status) {
  grpc::ClientContext context;
  HealthCheckRequest request;
  request.set_service(service);
  HealthCheckResponse response;
  const grpc::Status result = Health::NewStub(channel)->Check(&context, request, &response);
  *status = response.status();
  return result;
}

// What the port answers to a call of the reflection service, without its generated code.
grpc::StatusCode ReflectionCode(const std::shared_ptr<grpc::Channel>& channel, std::string* listed) {
  // ServerReflectionRequest{list_services: ""} is field 7 of length 0.
  const grpc::Slice bytes(std::string("\x3a\x00", 2));
  const grpc::ByteBuffer request(&bytes, 1);
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
  grpc::CompletionQueue queue;
  const auto done = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  auto call =
      stub.PrepareCall(&context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  call->StartCall(nullptr);
  done();
  call->Write(request, nullptr);
  done();
  grpc::ByteBuffer response;
  call->Read(&response, nullptr);
  if (done()) {
    std::vector<grpc::Slice> slices;
    (void)response.Dump(&slices);
    for (const grpc::Slice& slice : slices)
      listed->append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  call->WritesDone(nullptr);
  done();
  grpc::Status status;
  call->Finish(&status, nullptr);
  done();
  return status.error_code();
}

grpc::Status Search(const std::shared_ptr<grpc::Channel>& channel, const std::string& query,
                    v1::SearchResponse* response) {
  grpc::ClientContext context;
  v1::SearchRequest request;
  request.set_query(query);
  return v1::SearchService::NewStub(channel)->Search(&context, request, response);
}

void PutOne(const LiveServer& live) {
  grpc::ClientContext context;
  v1::PutItemsRequest request;
  request.add_items()->set_id("m1");
  v1::PutItemsResponse response;
  REQUIRE(v1::CatalogService::NewStub(live.channel())->PutItems(&context, request, &response).ok());
  REQUIRE(response.results(0).code() == 0);
}

}  // namespace

TEST_CASE("Health says NOT_SERVING until serving is set, for the server and for each service") {
  LiveServer live;
  live.server->SetServing(false);
  HealthCheckResponse::ServingStatus status;
  for (const auto& channel : {live.channel(), live.admin_channel()}) {
    for (const char* service : {"", "waymark.v1.SearchService", "waymark.v1.AdminService"}) {
      REQUIRE(Check(channel, service, &status).ok());
      CHECK(status == HealthCheckResponse::NOT_SERVING);
    }
  }
  int http = 0;
  CHECK(live.Get("/healthz", &http)["status"] == "NOT_SERVING");
  CHECK(http == 503);
  live.server->SetServing(true);
  REQUIRE(Check(live.channel(), "waymark.v1.SearchService", &status).ok());
  CHECK(status == HealthCheckResponse::SERVING);
  CHECK(live.Get("/healthz", &http)["status"] == "SERVING");
  CHECK(http == 200);
  CHECK(Check(live.channel(), "no.such.Service", &status).error_code() == grpc::StatusCode::NOT_FOUND);
}

TEST_CASE("A health watch tells each change, and ends with the server") {
  LiveServer live;
  auto stub = Health::NewStub(live.channel());
  grpc::ClientContext context;
  auto reader = stub->Watch(&context, HealthCheckRequest());
  HealthCheckResponse response;
  REQUIRE(reader->Read(&response));
  CHECK(response.status() == HealthCheckResponse::SERVING);
  live.server->SetServing(false);
  REQUIRE(reader->Read(&response));
  CHECK(response.status() == HealthCheckResponse::NOT_SERVING);
  live.server->SetServing(true);
  REQUIRE(reader->Read(&response));
  CHECK(response.status() == HealthCheckResponse::SERVING);
  std::thread stop([&] { live.server->Shutdown(absl::Seconds(20)); });
  REQUIRE(reader->Read(&response));
  CHECK(response.status() == HealthCheckResponse::NOT_SERVING);
  CHECK_FALSE(reader->Read(&response));
  const absl::Time before = absl::Now();
  stop.join();
  // The open watch does not use up the grace.
  CHECK(absl::Now() - before < absl::Seconds(10));
}

TEST_CASE("A watch of an unknown service says so and stays open") {
  LiveServer live;
  grpc::ClientContext context;
  HealthCheckRequest request;
  request.set_service("no.such.Service");
  auto stub = Health::NewStub(live.channel());
  auto reader = stub->Watch(&context, request);
  HealthCheckResponse response;
  REQUIRE(reader->Read(&response));
  CHECK(response.status() == HealthCheckResponse::SERVICE_UNKNOWN);
  context.TryCancel();
  CHECK_FALSE(reader->Read(&response));
  CHECK(reader->Finish().error_code() == grpc::StatusCode::CANCELLED);
}

TEST_CASE("Reflection is on the admin port only, and lists the public services too") {
  LiveServer live;
  std::string listed;
  CHECK(ReflectionCode(live.channel(), &listed) == grpc::StatusCode::UNIMPLEMENTED);
  CHECK(listed.empty());
  CHECK(ReflectionCode(live.admin_channel(), &listed) == grpc::StatusCode::OK);
  for (const char* service : {"waymark.v1.SearchService", "waymark.v1.CatalogService",
                              "waymark.v1.AdminService", "grpc.health.v1.Health"}) {
    INFO(service);
    CHECK(listed.find(service) != std::string::npos);
  }
}

TEST_CASE("AdminService answers on the admin port and not on the public one") {
  LiveServer live;
  PutOne(live);
  v1::Status status;
  {
    grpc::ClientContext context;
    CHECK(v1::AdminService::NewStub(live.channel())->GetStatus(&context, {}, &status).error_code() ==
          grpc::StatusCode::UNIMPLEMENTED);
  }
  grpc::ClientContext context;
  REQUIRE(v1::AdminService::NewStub(live.admin_channel())->GetStatus(&context, {}, &status).ok());
  CHECK(status.data_folder() == (live.folder.path / "data").string());
  REQUIRE(status.collections_size() == 1);
  CHECK(status.collections(0).name() == "tenants/default/collections/default");
  CHECK(status.collections(0).items() == 1);
  grpc::ClientContext second;
  v1::CreateCheckpointResponse checkpoint;
  REQUIRE(v1::AdminService::NewStub(live.admin_channel())->CreateCheckpoint(&second, {}, &checkpoint).ok());
  CHECK(std::filesystem::is_directory(live.folder.path / "data" / checkpoint.path()));
}

TEST_CASE("A second server on a port fails and names the address and the remedy") {
  LiveServer live;
  const auto failure = [&](ServerOptions options) {
    Server second(std::move(options));
    const absl::Status status = second.Start(live.engine.get());
    CHECK(status.code() == absl::StatusCode::kUnavailable);
    return std::string(status.message());
  };
  ServerOptions options = LiveServer::OnFreePorts({});
  options.grpc_address = live.server->grpc_address();
  std::string message = failure(options);
  INFO(message);
  CHECK(message.find(live.server->grpc_address()) != std::string::npos);
  CHECK(message.find("Address already in use") != std::string::npos);
  CHECK(message.find("--grpc") != std::string::npos);
  options = LiveServer::OnFreePorts({});
  options.http_address = live.server->http_address();
  message = failure(options);
  CHECK(message.find("Address already in use") != std::string::npos);
  CHECK(message.find("--http") != std::string::npos);
}

TEST_CASE("An address that other machines reach needs --insecure") {
  LiveServer live;
  ServerOptions options = LiveServer::OnFreePorts({});
  options.http_address = "0.0.0.0:0";
  {
    Server open(options);
    const absl::Status status = open.Start(live.engine.get());
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK(std::string(status.message()).find("--insecure") != std::string::npos);
  }
  options.insecure = true;
  Server open(options);
  CHECK(open.Start(live.engine.get()).ok());
}

TEST_CASE("server.json names the ports while the server runs") {
  LiveServer live;
  const auto data = live.folder.path / "data";
  auto file = ReadServerFile(data);
  REQUIRE(file.ok());
  CHECK(file->grpc_address == live.server->grpc_address());
  CHECK(file->http_address == live.server->http_address());
  CHECK(file->admin_address == live.server->admin_address());
  live.server->Shutdown(absl::ZeroDuration());
  CHECK(absl::IsNotFound(ReadServerFile(data).status()));
}

TEST_CASE("A shutdown lets running calls finish and takes no new ones") {
  LiveServer live;
  PutOne(live);
  live.engine->gate().Close();
  grpc::Status running;
  v1::SearchResponse response;
  const auto channel = live.channel();
  std::thread call([&] { running = Search(channel, "anything", &response); });
  int http_status = 0;
  std::thread http([&] { live.Post("/v1/search", R"({"query":"anything"})", &http_status); });
  live.engine->gate().AwaitWaiting(2);
  std::thread stop([&] { live.server->Shutdown(absl::Seconds(20)); });
  absl::SleepFor(absl::Milliseconds(300));
  v1::SearchResponse other;
  CHECK(Search(live.channel(), "late", &other).error_code() == grpc::StatusCode::UNAVAILABLE);
  live.engine->gate().Open();
  call.join();
  http.join();
  stop.join();
  CHECK(running.ok());
  CHECK(http_status == 200);
  live.server->WaitForShutdown();
}

TEST_CASE("After the grace a shutdown cancels what still runs") {
  LiveServer live;
  PutOne(live);
  live.engine->gate().Close();
  grpc::Status running;
  v1::SearchResponse response;
  const auto channel = live.channel();
  std::thread call([&] { running = Search(channel, "anything", &response); });
  live.engine->gate().AwaitWaiting(1);
  std::thread stop([&] { live.server->Shutdown(absl::Milliseconds(100)); });
  call.join();
  CHECK_FALSE(running.ok());
  live.engine->gate().Open();
  stop.join();
}

TEST_CASE("A request that is half sent does not hold a shutdown up") {
  LiveServer live;
  const std::string where = live.server->http_address();
  std::vector<int> sockets;
  for (const std::string part :
       {"", "POST /v1/sea", "POST /v1/search HTTP/1.1\r\nContent-Length: 10\r\n\r\n{"}) {
    sockets.push_back(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(where.substr(where.rfind(':') + 1))));
    REQUIRE(connect(sockets.back(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(write(sockets.back(), part.data(), part.size()) == static_cast<ssize_t>(part.size()));
  }
  absl::SleepFor(absl::Milliseconds(100));
  const absl::Time before = absl::Now();
  live.server->Shutdown(absl::Seconds(20));
  // The grace, 20 seconds, is not used up; what a busy machine takes is.
  CHECK(absl::Now() - before < absl::Seconds(10));
  for (const int fd : sockets) close(fd);
}
