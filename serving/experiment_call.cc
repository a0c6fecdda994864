#include "serving/experiment_call.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pipeline/pipeline.h"
#include "serving/answer_measure.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

// A tester's arm goes before one that was drawn, and that before one that everybody will see anyway.
int Precedence(const AssignedArm& arm) {
  if (arm.arm < 0 || arm.experiment->arms[static_cast<size_t>(arm.arm)].release.empty()) return 0;
  if (arm.reason == AssignmentReason::kForced) return 3;
  return arm.Counts() ? 2 : 1;
}

google::protobuf::Struct ContextOf(const Collection& collection, const PipelineRequest& request) {
  google::protobuf::Struct context = request.context;
  auto& fields = *context.mutable_fields();
  if (!request.surface.empty()) fields["surface"].set_string_value(request.surface);
  fields["tenant"].set_string_value(collection.name().tenant);
  return context;
}

const ArmPlan& PlanOf(const AssignedArm& arm) { return arm.experiment->arms[static_cast<size_t>(arm.arm)]; }

}  // namespace

absl::Status CheckAskedArms(const ExperimentHost* host, const Collection& collection,
                            const google::protobuf::Map<std::string, std::string>& asked,
                            const PipelineRequest& request) {
  if (asked.empty()) return absl::OkStatus();
  if (!request.release.empty()) {
    return InvalidField("experiment_arms", "stands beside `release`; name an arm or a release");
  }
  const HostedExperiments* hosted = host == nullptr ? nullptr : host->Find(collection.scope());
  if (hosted == nullptr) return InvalidField("experiment_arms", "is given, and no experiment runs here");
  const absl::Status status = hosted->experiments->CheckOverrides({asked.begin(), asked.end()});
  return status.ok() ? status : InvalidField("experiment_arms", std::string(status.message()));
}

ExperimentCall::ExperimentCall(ExperimentHost* host, Collection* collection,
                               const google::protobuf::Map<std::string, std::string>& asked,
                               PipelineRequest* request)
    : host_(host), collection_(collection), request_(request) {
  if (host == nullptr || !request->release.empty()) return;
  HostedExperiments* hosted = host->Find(collection->scope());
  if (hosted == nullptr || !(hosted->experiments->any() || hosted->experiments->any_shadow())) return;
  context_ = ContextOf(*collection, *request);
  if (request->page_token.empty()) shadows_ = hosted->experiments->ShadowsOf(context_);
  shadow_hosted_ = hosted;
  const std::map<std::string, std::string> overrides(asked.begin(), asked.end());
  AssignmentRequest who{.context = &context_, .overrides = overrides.empty() ? nullptr : &overrides};
  if (request->personalization != PersonalizationMode::kOff) {
    who.user_id = request->user_id;
    who.visitor_id = request->visitor_id;
    who.session_id = request->session_id;
  }
  // A later page belongs to the request that made its list.
  if (request->page_token.empty()) {
    if (request->request_id.empty()) request->request_id = NewRequestId();
    who.request_id = request->request_id;
  }
  assigned_ = hosted->experiments->Assign(who);
  const auto chosen =
      std::max_element(assigned_.arms.begin(), assigned_.arms.end(),
                       [](const auto& a, const auto& b) { return Precedence(a) < Precedence(b); });
  if (chosen == assigned_.arms.end() || Precedence(*chosen) == 0) return;
  assigned_.arms = {AssignedArm(*chosen)};
  request->arm_release = PlanOf(assigned_.arms[0]).release;
  request->arm = absl::StrCat(assigned_.arms[0].experiment->id, "/", PlanOf(assigned_.arms[0]).name);
  hosted_ = hosted;
}

void ExperimentCall::Answered(const absl::StatusOr<PipelineResponse>& answer, absl::Duration latency) {
  if (hosted_ == nullptr && shadows_.empty()) return;
  const auto measured = MeasureAnswer(collection_->catalog(), answer, latency);
  if (!measured) return;
  if (!shadows_.empty() && answer.ok()) CopyIntoTheShadow(*answer, *measured);
  if (hosted_ == nullptr) return;
  // Another release has answered: the arm's is not loaded, or made no list that a page could belong to.
  if (answer.ok() && answer->release != PlanOf(assigned_.arms[0]).release) {
    hosted_ = nullptr;
    return;
  }
  Record(answer.ok() ? answer->request_id : request_->request_id, *measured);
}

void ExperimentCall::CopyIntoTheShadow(const PipelineResponse& answer, const ServedAnswer& measured) {
  ShadowRunner::Copy copy{.hosted = shadow_hosted_, .request = *request_, .shadows = std::move(shadows_)};
  copy.served.measured = measured;
  for (const RankedItem& item : answer.items) copy.served.items.push_back(item.item);
  host_->shadow_runner().Offer(std::move(copy));
}

void ExperimentCall::Record(const std::string& request_id, const ServedAnswer& served) {
  const absl::Status status = hosted_->experiments->RecordExposure(
      assigned_, assigned_.arms[0],
      {.request_id = request_id, .surface = request_->surface, .context = &context_});
  if (!status.ok()) {
    spdlog::error(
        "exposure_not_written experiment={} reason=\"{}\" effect=\"the unit's next request tries again\"",
        assigned_.arms[0].experiment->id, std::string(status.message()));
  }
  if (hosted_->experiments->RecordServed(assigned_, served)) host_->Wake();
}

void ExperimentCall::Fill(google::protobuf::RepeatedPtrField<v1::ServedArm>* arms) const {
  if (hosted_ == nullptr) return;
  const AssignedArm& arm = assigned_.arms[0];
  v1::ServedArm* served = arms->Add();
  served->set_experiment(arm.experiment->id);
  served->set_arm(PlanOf(arm).name);
  served->set_reason(std::string(ReasonName(arm.reason)));
  served->set_release(PlanOf(arm).release);
}

}  // namespace waymark
