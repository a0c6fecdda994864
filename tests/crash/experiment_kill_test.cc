// kill -9 of a serving `waymark` after each step of an experiment, and in the middle of its traffic: whoever
// was answered with an arm keeps it, no exposure is lost, and what was decided is what serves.
#include <grpcpp/grpcpp.h>

#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/app/program.h"
#include "waymark/v1/catalog.grpc.pb.h"
#include "waymark/v1/experiment.grpc.pb.h"
#include "waymark/v1/recommend.grpc.pb.h"
#include "waymark/v1/release.grpc.pb.h"

namespace waymark {
namespace {

using tests::AddressAfter;
using tests::Process;
using tests::Sandbox;

constexpr int kItems = 20, kClients = 3, kUsers = 500;

// A server over the sandbox's folder that ends by kill -9.
class Server {
 public:
  explicit Server(const Sandbox& sandbox)
      : process_(sandbox.Start({"serve", "--data", "d", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0",
                                "--admin", "127.0.0.1:0"})) {
    REQUIRE(process_->WaitFor("admin  127.0.0.1:"));
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = grpc::CreateCustomChannel(AddressAfter(process_->Output(), "gRPC"),
                                         grpc::InsecureChannelCredentials(), own);
  }
  void Kill() { process_.reset(); }

  template <class Service, class Stub, class Request, class Response>
  grpc::Status Try(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                   const Request& request, Response* response) const {
    grpc::ClientContext context;
    return ((*Service::NewStub(channel_)).*method)(&context, request, response);
  }
  template <class Service, class Stub, class Request, class Response>
  void Must(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
            const Request& request, Response* response) const {
    const grpc::Status status = Try<Service>(method, request, response);
    INFO(status.error_message());
    REQUIRE(status.ok());
  }

 private:
  std::unique_ptr<Process> process_;
  std::shared_ptr<grpc::Channel> channel_;
};

using Experiments = v1::ExperimentService;
using Releases = v1::ReleaseService;

void Prepare(const Server& server) {
  v1::PutItemsRequest items;
  v1::PutItemsResponse put;
  for (int i = 0; i < kItems; ++i) {
    v1::Item* item = items.add_items();
    item->set_id(absl::StrCat("i", i));
    (*item->mutable_fields()->mutable_fields())["title"].set_string_value(absl::StrCat("thing ", i));
  }
  server.Must<v1::CatalogService>(&v1::CatalogService::Stub::PutItems, items, &put);
  v1::Release release;
  for (const char* id : {"r1", "r2"}) {
    v1::CreateReleaseRequest create;
    create.set_id(id);
    create.add_sources()->set_name("popularity");  // nothing is trained: a blending plan alone
    server.Must<Releases>(&Releases::Stub::CreateRelease, create, &release);
  }
  v1::ActivateReleaseRequest activate;
  activate.set_id("r1");
  server.Must<Releases>(&Releases::Stub::ActivateRelease, activate, &release);
}

void Create(const Server& server) {
  v1::CreateExperimentRequest create;
  create.set_by("ann");
  v1::Experiment& experiment = *create.mutable_experiment();
  experiment.set_id("x");
  experiment.set_hypothesis("more clicks");
  for (const char* name : {"control", "new"}) {
    auto* arm = experiment.add_arms();
    arm->set_name(name);
    arm->set_release(arm->name() == "control" ? "r1" : "r2");
    arm->set_weight(.5);
  }
  auto* clicks = experiment.add_metrics();
  clicks->set_name("clicks");
  clicks->set_kind(v1::Experiment::Metric::MEAN);
  clicks->mutable_events()->set_type("click");
  clicks->mutable_window()->set_seconds(7 * 24 * 3600);
  experiment.set_primary_metric("clicks");
  experiment.add_ramp(.5);
  experiment.add_ramp(1);
  v1::Experiment made;
  server.Must<Experiments>(&Experiments::Stub::CreateExperiment, create, &made);
}

template <class Request>
Request Decision() {
  Request request;
  request.set_id("x");
  request.set_by("ann");
  return request;
}

v1::Experiment Get(const Server& server) {
  v1::GetExperimentRequest get;
  get.set_id("x");
  v1::Experiment experiment;
  server.Must<Experiments>(&Experiments::Stub::GetExperiment, get, &experiment);
  return experiment;
}

int64_t Units(const Server& server) {
  v1::ReportExperimentRequest request;
  request.set_id("x");
  v1::ExperimentReport report;
  server.Must<Experiments>(&Experiments::Stub::ReportExperiment, request, &report);
  int64_t units = 0;
  for (const auto& arm : report.arms()) units += arm.units();
  return units;
}

// Which arms users were answered with; outlives servers.
struct Answered {
  std::mutex mutex;
  std::map<std::string, std::string> arms;  // of users that had one
  int moved = 0;                            // answers with another arm than before, or with none
  int strays = 0;                           // answers of another release than the arm's
};

// One request. False: the server is gone.
bool Ask(const Server& server, int number, Answered* answered) {
  v1::RecommendRequest request;
  v1::RecommendResponse response;
  request.set_user_id(absl::StrCat("u", number));
  if (!server.Try<v1::RecommendService>(&v1::RecommendService::Stub::Recommend, request, &response).ok())
    return false;
  const std::string arm = response.arms().empty() ? "" : response.arms(0).arm();
  std::lock_guard<std::mutex> lock(answered->mutex);
  const std::string release = arm == "new" ? "r2" : "r1";
  answered->strays += response.served_by().release() != release;
  const auto known = answered->arms.find(request.user_id());
  answered->moved += known != answered->arms.end() && known->second != arm;
  if (!arm.empty()) answered->arms[request.user_id()] = arm;
  return true;
}

void AskAll(const Server& server, Answered* answered) {
  for (int i = 0; i < kUsers; ++i) REQUIRE(Ask(server, i, answered));
}

// Clients ask until the server is killed in the middle of it.
void KillUnderTraffic(Server* server, Answered* answered, std::mt19937* random) {
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([server, answered, c] {
      for (int i = c; Ask(*server, i % kUsers, answered); i += kClients) {
      }
    });
  }
  std::this_thread::sleep_for(
      std::chrono::milliseconds(std::uniform_int_distribution<int>(20, 400)(*random)));
  server->Kill();
  for (std::thread& client : clients) client.join();
}

void CheckNobodyMoved(const Answered& answered) {
  CHECK(answered.moved == 0);
  CHECK(answered.strays == 0);
}

// Everybody, by one release, without an arm.
void CheckAllServedBy(const Server& server, const std::string& release) {
  for (int i = 0; i < 50; ++i) {
    v1::RecommendRequest request;
    v1::RecommendResponse response;
    request.set_user_id(absl::StrCat("u", i));
    server.Must<v1::RecommendService>(&v1::RecommendService::Stub::Recommend, request, &response);
    CHECK(response.served_by().release() == release);
    CHECK(response.arms().empty());
  }
}

TEST_CASE("an experiment survives kill -9 after each step and under traffic, and nobody changes arms") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  Sandbox sandbox;
  Answered answered;
  v1::Experiment decided;
  {
    const Server server(sandbox);
    Prepare(server);
    Create(server);
  }
  {
    const Server server(sandbox);
    CHECK(Get(server).state() == v1::Experiment::DRAFT);
    server.Must<Experiments>(&Experiments::Stub::StartExperiment, Decision<v1::StartExperimentRequest>(),
                             &decided);
  }
  for (int kill = 0; kill < 3; ++kill) {
    Server server(sandbox);
    CHECK(Get(server).state() == v1::Experiment::RUNNING);
    CHECK(Units(server) >= static_cast<int64_t>(answered.arms.size()));
    for (const auto& [user, arm] : std::map<std::string, std::string>(answered.arms)) {
      REQUIRE(Ask(server, std::stoi(user.substr(1)), &answered));
    }
    KillUnderTraffic(&server, &answered, &random);
    CheckNobodyMoved(answered);
  }
  CHECK(answered.arms.size() > 10);
  {
    const Server server(sandbox);
    AskAll(server, &answered);
    CHECK(answered.arms.size() < kUsers);
    CHECK(Units(server) == static_cast<int64_t>(answered.arms.size()));
    auto ramp = Decision<v1::RampExperimentRequest>();
    ramp.set_override_reason("a test");
    server.Must<Experiments>(&Experiments::Stub::RampExperiment, ramp, &decided);
  }
  {
    Server server(sandbox);
    CHECK(Get(server).coverage() == 1);
    KillUnderTraffic(&server, &answered, &random);
  }
  {
    const Server server(sandbox);
    AskAll(server, &answered);
    CheckNobodyMoved(answered);
    CHECK(answered.arms.size() == kUsers);
    CHECK(Units(server) == kUsers);
    auto stop = Decision<v1::StopExperimentRequest>();
    stop.set_outcome(v1::StopExperimentRequest::RELEASE);
    stop.set_winner("new");
    stop.set_override_reason("a test");
    server.Must<Experiments>(&Experiments::Stub::StopExperiment, stop, &decided);
  }
  {
    const Server server(sandbox);
    CheckAllServedBy(server, "r2");
    auto stop = Decision<v1::StopExperimentRequest>();
    stop.set_outcome(v1::StopExperimentRequest::ROLL_BACK);
    server.Must<Experiments>(&Experiments::Stub::StopExperiment, stop, &decided);
  }
  const Server server(sandbox);
  CheckAllServedBy(server, "r1");
  CHECK(Get(server).state() == v1::Experiment::ROLLED_BACK);
  CHECK(Get(server).decisions_size() == 5);
}

}  // namespace
}  // namespace waymark
