#include "serving/experiment_call.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pipeline/pipeline.h"

namespace waymark {
namespace {

// As far as people look.
constexpr size_t kDiversityDepth = 10;

// An answer that failed through no fault of its caller.
bool IsOurError(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
      return true;
    default:
      return false;
  }
}

bool Share(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&b](uint64_t one) { return std::find(b.begin(), b.end(), one) != b.end(); });
}

// Share of pairs among the first results that have no category in common; 0 with less than two.
double Diversity(const Catalog& catalog, const std::vector<RankedItem>& results) {
  std::vector<ItemOrdinal> items;
  for (const RankedItem& result : results) {
    if (items.size() == kDiversityDepth) break;
    if (result.item != kNoItem) items.push_back(result.item);
  }
  if (items.size() < 2) return 0;
  std::vector<std::vector<uint64_t>> titles, categories;
  catalog.ReadContent(items, &titles, &categories);
  size_t pairs = 0, different = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      ++pairs;
      different += !Share(categories[i], categories[j]);
    }
  }
  return static_cast<double>(different) / static_cast<double>(pairs);
}

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

ExperimentCall::ExperimentCall(ExperimentHost* host, Collection* collection,
                               const google::protobuf::Map<std::string, std::string>& asked,
                               PipelineRequest* request)
    : host_(host), collection_(collection), request_(request) {
  if (host == nullptr || !request->release.empty()) return;
  HostedExperiments* hosted = host->Find(collection->scope());
  if (hosted == nullptr || !hosted->experiments->any()) return;
  context_ = ContextOf(*collection, *request);
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
  if (hosted_ == nullptr) return;
  ServedAnswer served{.latency = latency};
  if (answer.ok()) {
    // Another release has answered: the arm's is not loaded, or made no list that a page could belong to.
    if (answer->release != PlanOf(assigned_.arms[0]).release) {
      hosted_ = nullptr;
      return;
    }
    served.empty = answer->items.empty();
    served.diversity = Diversity(collection_->catalog(), answer->items);
    Record(answer->request_id, served);
  } else if (IsOurError(answer.status().code())) {
    served.error = true;
    Record(request_->request_id, served);
  }
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
