#include "serving/experiment_call.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pipeline/pipeline.h"
#include "serving/answer_measure.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

// A tester's arm goes before one that was drawn, and that before one that everybody will see anyway.
int Precedence(const AssignedArm& arm) {
  if (arm.arm < 0 || arm.experiment->arms[static_cast<size_t>(arm.arm)].release.empty()) return 0;
  if (arm.Interleaved()) return 2;
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

// Who reads the list: their clicks count together.
std::string ReaderOf(const PipelineRequest& request) {
  if (!request.user_id.empty()) return "u:" + request.user_id;
  if (!request.visitor_id.empty()) return "v:" + request.visitor_id;
  return request.session_id.empty() ? std::string() : "s:" + request.session_id;
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
  const AssignedArm& arm = assigned_.arms[0];
  request->arm_release = PlanOf(arm).release;
  request->arm = absl::StrCat(arm.experiment->id, "/", arm.Interleaved() ? "interleaved" : PlanOf(arm).name);
  hosted_ = hosted;
  if (arm.Interleaved()) Interleave(*arm.experiment, request);
}

void ExperimentCall::Interleave(const ExperimentPlan& experiment, PipelineRequest* request) {
  // A list is made once; the caller's words for a ranking are one arm's alone.
  if (!request->page_token.empty() || request->kind == RequestKind::kRank) {
    request->arm_release.clear();
    request->arm.clear();
    hosted_ = nullptr;
    return;
  }
  for (size_t arm = 1; arm < experiment.arms.size(); ++arm) {
    request->rival_releases.push_back(experiment.arms[arm].release);
  }
  // The same request is drafted in the same way wherever it is made again.
  request->interleave = [id = request->request_id](const std::vector<std::vector<ItemOrdinal>>& lists) {
    std::seed_seq seed(id.begin(), id.end());
    std::mt19937_64 random(seed);
    size_t longest = 0;
    std::vector<absl::Span<const ItemOrdinal>> rankings;
    for (const std::vector<ItemOrdinal>& list : lists) {
      rankings.push_back(list);
      longest = std::max(longest, list.size());
    }
    std::vector<InterleavedPlace> places;
    std::vector<size_t> next(lists.size(), 0);
    for (const DraftedItem& one : TeamDraft(rankings, longest, [&](size_t n) { return random() % n; })) {
      const size_t from = RankingOf(one.team);
      while (lists[from][next[from]] != one.item) ++next[from];  // drafted in its own order
      places.push_back({static_cast<int>(from), next[from]});
    }
    return places;
  };
}

// Of the arm; of an interleaved list those of all.
std::string ExperimentCall::ReleasesOf(const AssignedArm& arm) {
  if (!arm.Interleaved()) return PlanOf(arm).release;
  std::vector<std::string> releases;
  for (const ArmPlan& plan : arm.experiment->arms) releases.push_back(plan.release);
  return absl::StrJoin(releases, "+");
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
  if (assigned_.arms[0].Interleaved()) {
    RecordList(answer);
    return;
  }
  Record(answer.ok() ? answer->request_id : request_->request_id, *measured);
}

void ExperimentCall::CopyIntoTheShadow(const PipelineResponse& answer, const ServedAnswer& measured) {
  ShadowRunner::Copy copy{.hosted = shadow_hosted_, .request = *request_, .shadows = std::move(shadows_)};
  copy.served.measured = measured;
  for (const RankedItem& item : answer.items) {
    const bool drawn = item.exploration && item.exploration->drawn();
    (drawn ? copy.drawn : copy.served.items).push_back(item.item);
  }
  if (copy.served.items.empty() && !answer.items.empty()) {  // chance alone has made the list
    for (const auto& shadow : copy.shadows) shadow_hosted_->experiments->SkipShadow(shadow.experiment);
    return;
  }
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
  if (hosted_->experiments->RecordServed(assigned_, served)) host_->RollBackViolated(hosted_);
}

void ExperimentCall::RecordList(const absl::StatusOr<PipelineResponse>& answer) {
  // Something else than ranking has made the list, or one of the two could not.
  if (!answer.ok() || answer->teams.empty()) {
    hosted_ = nullptr;
    return;
  }
  InterleavedAnswer list{.reader = ReaderOf(*request_)};
  for (size_t i = 0; i < answer->teams.size(); ++i) {
    list.places.push_back({answer->interleaved_items[i], static_cast<Team>(answer->teams[i])});
  }
  const absl::Status status = hosted_->experiments->RecordInterleaved(
      assigned_, assigned_.arms[0],
      {.request_id = answer->request_id, .surface = request_->surface, .context = &context_}, list);
  if (!status.ok()) {
    spdlog::error(
        "interleaved_list_not_written experiment={} reason=\"{}\" effect=\"its clicks do not count\"",
        assigned_.arms[0].experiment->id, std::string(status.message()));
  }
}

void ExperimentCall::Fill(google::protobuf::RepeatedPtrField<v1::ServedArm>* arms) const {
  if (hosted_ == nullptr) return;
  const AssignedArm& arm = assigned_.arms[0];
  v1::ServedArm* served = arms->Add();
  served->set_experiment(arm.experiment->id);
  served->set_arm(arm.Interleaved() ? "interleaved" : PlanOf(arm).name);
  served->set_reason(std::string(ReasonName(arm.reason)));
  served->set_release(ReleasesOf(arm));
}

}  // namespace waymark
