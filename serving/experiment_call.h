// What experiments do to one search, feed or ranking call: they choose its release before it runs, and take
// down afterwards who saw what and how it went. Where experiments are in the shadow they copy the call.
//
//   if (auto status = CheckAskedArms(host, *collection, request.experiment_arms(), made); !status.ok()) ...
//   ExperimentCall experiments(host, collection, request.experiment_arms(), &made);
//   auto answer = collection->Run(made, deadline);
//   experiments.Answered(answer, took);
//   experiments.Fill(response->mutable_arms());
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/map.h"
#include "google/protobuf/repeated_field.h"
#include "google/protobuf/struct.pb.h"
#include "pipeline/request.h"
#include "serving/experiment_host.h"
#include "waymark/v1/ranked_answer.pb.h"

namespace waymark {

// INVALID_ARGUMENT: `asked`, experiment -> arm of a tester, names what does not run, or stands beside a
// release.
absl::Status CheckAskedArms(const ExperimentHost* host, const Collection& collection,
                            const google::protobuf::Map<std::string, std::string>& asked,
                            const PipelineRequest& request);

// One thread. Does nothing where no experiment runs, or the caller names a release itself.
class ExperimentCall {
 public:
  // `host` null: no experiments. `asked`: experiment -> arm, of a tester. `request` must live as long.
  ExperimentCall(ExperimentHost* host, Collection* collection,
                 const google::protobuf::Map<std::string, std::string>& asked, PipelineRequest* request);

  void Answered(const absl::StatusOr<PipelineResponse>& answer, absl::Duration latency);
  void Fill(google::protobuf::RepeatedPtrField<v1::ServedArm>* arms) const;

 private:
  void Record(const std::string& request_id, const ServedAnswer& served);
  // Asks the pipeline for one list of both arms.
  void Interleave(const ExperimentPlan& experiment, PipelineRequest* request);
  static std::string ReleasesOf(const AssignedArm& arm);
  void RecordList(const absl::StatusOr<PipelineResponse>& answer);
  void CopyIntoTheShadow(const PipelineResponse& answer, const ServedAnswer& measured);

  ExperimentHost* host_;
  Collection* collection_;
  const PipelineRequest* request_;
  HostedExperiments* hosted_ = nullptr;  // null: nothing to do
  google::protobuf::Struct context_;     // the request's, with surface and tenant
  Experiments::Assignments assigned_;    // the one arm that has a say, or none
  HostedExperiments* shadow_hosted_ = nullptr;
  std::vector<Experiments::Shadow> shadows_;
};

}  // namespace waymark
