// Experiments of a live server, in short: what the tests of experiments share.
#pragma once
#include <string>

#include "pipeline/blending_plan.h"
#include "tests/serving/api_client.h"
#include "waymark/v1/experiment.grpc.pb.h"

namespace waymark::tests {

using ExperimentStub = v1::ExperimentService::Stub;

template <class Request, class Response>
grpc::Status Call(const LiveServer& live,
                  grpc::Status (ExperimentStub::*method)(grpc::ClientContext*, const Request&, Response*),
                  const Request& request, Response* response) {
  grpc::ClientContext context;
  const auto stub = v1::ExperimentService::NewStub(live.channel());
  return ((*stub).*method)(&context, request, response);
}

// A release without models: the weighted sum orders.
inline void PutRelease(const LiveServer& live, const std::string& id, const std::string& ranker = "",
                       const storage::BlendingPlan& plan = DefaultBlendingPlan()) {
  auto collection = live.engine->OpenCollection({}, true);
  REQUIRE(collection.ok());
  storage::ReleaseRecord record;
  record.set_id(id);
  record.set_ranker_version(ranker);
  *record.mutable_plan() = plan;
  REQUIRE(live.engine->store().PutRelease((*collection)->scope(), record).ok());
}

// Two releases of which the first is active, and some items.
inline void Prepare(LiveServer* live) {
  Api api(*live);
  Put(&api, 12);
  for (const char* id : {"r1", "r2"}) PutRelease(*live, id);
  REQUIRE((*live->engine->OpenCollection({}, false))->ActivateRelease("r1", "first").ok());
}

inline const char* kExperiment = R"({"by": "ann", "experiment": {
  "id": "x", "hypothesis": "more clicks",
  "arms": [{"name": "control", "release": "r1", "weight": 0.5}, {"name": "new", "release": "r2", "weight": 0.5}],
  "metrics": [{"name": "clicks", "kind": "MEAN", "events": {"type": "click"}, "window": "604800s"}],
  "primary_metric": "clicks", "ramp": [0.5, 1], "min_exposures": 1}})";

inline void Create(const LiveServer& live, const std::string& experiment = kExperiment) {
  int status = 0;
  const auto made = live.Post("/v1/experiments", experiment, &status);
  INFO(made.dump());
  REQUIRE(status == 200);
  CHECK(made["state"] == "DRAFT");
}

template <class Request>
v1::Experiment Decide(const LiveServer& live,
                      grpc::Status (ExperimentStub::*method)(grpc::ClientContext*, const Request&,
                                                             v1::Experiment*)) {
  Request request;
  request.set_id("x");
  request.set_by("ann");
  v1::Experiment decided;
  const grpc::Status status = Call(live, method, request, &decided);
  INFO(status.error_message());
  REQUIRE(status.ok());
  CHECK(decided.state() == v1::Experiment::RUNNING);
  return decided;
}
inline v1::Experiment Start(const LiveServer& live) { return Decide(live, &ExperimentStub::StartExperiment); }
inline v1::Experiment Ramp(const LiveServer& live) { return Decide(live, &ExperimentStub::RampExperiment); }

inline v1::RecommendResponse Feed(Api* api, const v1::RecommendRequest& request) {
  v1::RecommendResponse response;
  const grpc::Status status = api->Recommend(request, &response);
  INFO(status.error_message());
  REQUIRE(status.ok());
  return response;
}
inline v1::RecommendRequest Of(const std::string& user) {
  v1::RecommendRequest request;
  request.set_user_id(user);
  return request;
}

inline v1::ExperimentReport Report(const LiveServer& live) {
  v1::ReportExperimentRequest request;
  request.set_id("x");
  v1::ExperimentReport report;
  const grpc::Status status = Call(live, &ExperimentStub::ReportExperiment, request, &report);
  INFO(status.error_message());
  REQUIRE(status.ok());
  return report;
}
inline int64_t Units(const LiveServer& live) {
  int64_t units = 0;
  const v1::ExperimentReport report = Report(live);
  for (const auto& arm : report.arms()) units += arm.units();
  return units;
}

}  // namespace waymark::tests
