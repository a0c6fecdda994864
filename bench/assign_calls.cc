// Calls of AssignUnits over gRPC, for bench/assign_speed.py: each asks for 10,000 users whom no call before
// it had.
//
//   build/release/bin/assign_calls ADDRESS CALLS [expose]
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

#include "waymark/v1/experiment.grpc.pb.h"

namespace waymark {
namespace {

constexpr int kUnits = 10000;

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: assign_calls ADDRESS CALLS [expose]\n");
    return 2;
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
  auto stub = v1::ExperimentService::NewStub(
      grpc::CreateCustomChannel(argv[1], grpc::InsecureChannelCredentials(), arguments));
  const int calls = std::stoi(argv[2]);
  const bool expose = argc > 3 && std::strcmp(argv[3], "expose") == 0;
  size_t arms = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int call = 0; call < calls; ++call) {
    v1::AssignUnitsRequest request;
    request.set_expose(expose);
    for (int i = 0; i < kUnits; ++i) {
      request.add_units()->set_user_id("grpc-" + std::to_string(call * kUnits + i));
    }
    grpc::ClientContext context;
    v1::AssignUnitsResponse response;
    const grpc::Status status = stub->AssignUnits(&context, request, &response);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.error_message().c_str());
      return 1;
    }
    for (const auto& unit : response.units()) {
      for (const auto& assignment : unit.assignments()) arms += !assignment.arm().empty();
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%zu %f\n", arms, seconds.count());
  return 0;
}

}  // namespace
}  // namespace waymark

int main(int argc, char** argv) { return waymark::Main(argc, argv); }
