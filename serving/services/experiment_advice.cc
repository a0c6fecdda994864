// What ExperimentService is asked about decisions: what the figures call for, and what another policy would
// have earned.
#include <utility>

#include "absl/strings/str_cat.h"
#include "serving/services/experiment_messages.h"
#include "serving/services/experiment_service.h"
#include "serving/status_details.h"
#include "waymark/v1/experiment.pb.h"

namespace waymark {
namespace {

constexpr MethodOptions kAdvising = {.lane = Lane::kBulk};

absl::Status NamedExperiment(absl::Status status) {
  return absl::IsNotFound(status) ? WithReason(std::move(status), "EXPERIMENT_NOT_FOUND") : status;
}

class AdviceService {
 public:
  AdviceService(Engine* engine, ExperimentHost* host) : engine_(engine), host_(host) {}

  absl::Status Decide(const v1::DecideExperimentRequest& request, v1::DecideExperimentResponse* response,
                      const CallContext& context) const {
    if (request.id().empty()) return InvalidField("id", "is empty; it takes an experiment's id");
    if (request.by().empty() && !request.validate_only()) {
      return InvalidField("by", "is empty; it takes the name of who decides");
    }
    auto hosted = OpenExperiments(engine_, host_, request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    Experiments& experiments = *(*hosted)->experiments;
    auto record = experiments.Get(request.id());
    if (!record.ok()) return NamedExperiment(record.status());
    auto advice = experiments.Advise(request.id());
    if (!advice.ok()) return NamedExperiment(advice.status());
    for (const std::string& missing : advice->missing) response->add_missing(missing);
    if (advice->next) {
      response->set_action(std::string(ActionName(advice->next->move.action)));
      response->set_reason(advice->next->reason);
    }
    if (advice->next && !request.validate_only()) {
      DecisionRequest decision;
      decision.move = advice->next->move;
      decision.by = request.by();
      decision.reason = request.reason().empty() ? advice->next->reason
                                                 : absl::StrCat(request.reason(), "; ", advice->next->reason);
      // What was looked at is what is decided about.
      decision.expected_revision =
          request.expected_revision() != 0 ? request.expected_revision() : record->revision();
      record = experiments.Decide(request.id(), decision);
      if (!record.ok()) return NamedExperiment(record.status());
      host_->Settle(*hosted);
    }
    ToMessage(*record, response->mutable_experiment());
    return absl::OkStatus();
  }

  absl::Status Evaluate(const v1::EvaluatePolicyRequest& request, v1::EvaluatePolicyResponse* response,
                        const CallContext& context) const {
    if (request.id().empty()) return InvalidField("id", "is empty; it takes an experiment's id");
    if (!(request.weight_cap() >= 0)) {
      return InvalidField("weight_cap",
                          absl::StrCat("is ", request.weight_cap(), "; it takes 0 (none) or more"));
    }
    auto hosted = OpenExperiments(engine_, host_, request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    auto answer = (*hosted)->experiments->EvaluatePolicy(
        request.id(),
        {{request.shares().begin(), request.shares().end()}, request.metric(), request.weight_cap()});
    if (!answer.ok()) return NamedExperiment(answer.status());
    response->set_units(answer->units);
    response->set_logged_value(answer->logged_value);
    for (const PolicyEstimate& one : answer->estimates) {
      v1::EvaluatePolicyResponse::Estimate* estimate = response->add_estimates();
      estimate->set_method(one.method);
      estimate->set_value(one.estimate.value);
      estimate->set_standard_error(one.estimate.standard_error);
      estimate->set_low(one.estimate.low);
      estimate->set_high(one.estimate.high);
      estimate->set_effective_sample_size(one.estimate.effective_sample_size);
      estimate->set_mean_weight(one.estimate.mean_weight);
      for (const std::string& warning : one.estimate.warnings) estimate->add_warnings(warning);
    }
    return absl::OkStatus();
  }

 private:
  Engine* engine_;
  ExperimentHost* host_;
};

}  // namespace

void RegisterExperimentAdvice(Engine* engine, ExperimentHost* host, MethodRegistry* registry) {
  const AdviceService s(engine, host);
  const std::string service = "waymark.v1.ExperimentService.";
  registry->Add<v1::DecideExperimentRequest, v1::DecideExperimentResponse>(
      service + "DecideExperiment", kAdvising,
      [s](const auto& q, auto* r, const CallContext& c) { return s.Decide(q, r, c); });
  registry->Add<v1::EvaluatePolicyRequest, v1::EvaluatePolicyResponse>(
      service + "EvaluatePolicy", kAdvising,
      [s](const auto& q, auto* r, const CallContext& c) { return s.Evaluate(q, r, c); });
}

}  // namespace waymark
