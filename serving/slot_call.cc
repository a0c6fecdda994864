#include "serving/slot_call.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "pipeline/pipeline.h"
#include "serving/status_details.h"
#include "store/slot_name.h"
#include "store/struct_fields.h"
#include "store/text_check.h"

namespace waymark {
namespace {

using google::protobuf::Struct;

Struct SlotContext(const Collection& collection, const v1::GetSlotRequest& request) {
  Struct context = request.context();
  auto& fields = *context.mutable_fields();
  if (!request.surface().empty()) fields["surface"].set_string_value(request.surface());
  fields["tenant"].set_string_value(collection.name().tenant);
  return context;
}

const ArmPlan& ArmOf(const AssignedArm& arm) { return arm.experiment->arms[static_cast<size_t>(arm.arm)]; }

std::optional<SlotVariantId> VariantOf(const AssignedArm& arm) {
  return arm.arm < 0 ? std::nullopt : ParseSlotVariantName(ArmOf(arm).slot_variant);
}

// Whether every arm could be shown: who is shown one must not depend on which one was drawn.
bool AllFit(const ExperimentPlan& experiment, const CompiledSlot& slot, const Struct& context,
            absl::Time now) {
  return std::all_of(experiment.arms.begin(), experiment.arms.end(), [&](const ArmPlan& arm) {
    const auto id = ParseSlotVariantName(arm.slot_variant);
    const CompiledVariant* variant = id ? slot.Find(id->variant) : nullptr;
    return variant != nullptr && variant->Fits(context, now);
  });
}

int SlotPrecedence(const AssignedArm& arm) {
  if (arm.reason == AssignmentReason::kForced) return 3;
  return arm.Counts() ? 2 : 1;
}

absl::Status CheckSlotRequest(const v1::GetSlotRequest& request) {
  using NamedId = std::pair<const char*, const std::string*>;
  for (const auto& [field, id] :
       {NamedId("user_id", &request.user_id()), NamedId("visitor_id", &request.visitor_id()),
        NamedId("session_id", &request.session_id()), NamedId("surface", &request.surface())}) {
    if (id->empty()) continue;
    if (auto status = CheckId(field, *id); !status.ok()) return status;
  }
  if (!v1::Personalization_IsValid(request.personalization())) {
    return InvalidField("personalization", absl::StrCat("is ", static_cast<int>(request.personalization()),
                                                        "; it takes AUTO, SESSION_ONLY or OFF"));
  }
  if (!request.variant().empty() && !request.experiment_arms().empty()) {
    return InvalidField("experiment_arms", "stands beside `variant`; name an arm or a variant");
  }
  return CheckFields("context", request.context());
}

}  // namespace

absl::Status SlotCall::Answer(const v1::GetSlotRequest& request, v1::GetSlotResponse* response) const {
  if (auto status = CheckSlotRequest(request); !status.ok()) return status;
  const std::shared_ptr<const CurationSnapshot> curation = collection_->curation().snapshot();
  const CompiledSlot* slot = curation->slots.Find(request.slot());
  if (slot == nullptr) {
    return WithReason(absl::NotFoundError(absl::StrCat("there is no slot '", Shortened(request.slot()),
                                                       "'; a slot begins with its first variant")),
                      "SLOT_NOT_FOUND");
  }
  const Struct context = SlotContext(*collection_, request);
  const absl::Time now = absl::Now();
  const std::string request_id = NewRequestId();
  storage::Attribution attribution;
  attribution.set_request_id(request_id);
  attribution.set_time_us(absl::ToUnixMicros(now));

  const CompiledVariant* shown = nullptr;
  HostedExperiments* hosted = host_ == nullptr ? nullptr : host_->Find(collection_->scope());
  if (!request.variant().empty()) {
    shown = slot->Find(request.variant());
    if (shown == nullptr) {
      return WithReason(absl::NotFoundError(absl::StrCat("slot '", slot->id, "' has no variant '",
                                                         Shortened(request.variant()), "'")),
                        "SLOT_VARIANT_NOT_FOUND");
    }
    hosted = nullptr;
  }
  const std::map<std::string, std::string> overrides(request.experiment_arms().begin(),
                                                     request.experiment_arms().end());
  if (!overrides.empty()) {
    if (hosted == nullptr) return InvalidField("experiment_arms", "is given, and no experiment runs here");
    const absl::Status status = hosted->experiments->CheckOverrides(overrides);
    if (!status.ok()) return InvalidField("experiment_arms", std::string(status.message()));
  }
  if (hosted != nullptr && hosted->experiments->any()) {
    AssignmentRequest who{
        .request_id = request_id, .context = &context, .overrides = overrides.empty() ? nullptr : &overrides};
    if (request.personalization() != v1::OFF) {
      who.user_id = request.user_id();
      who.visitor_id = request.visitor_id();
      who.session_id = request.session_id();
    }
    Experiments::Assignments assigned = hosted->experiments->Assign(who);
    std::erase_if(assigned.arms, [&](const AssignedArm& arm) {
      const auto id = VariantOf(arm);
      return !id || id->slot != slot->id || !AllFit(*arm.experiment, *slot, context, now);
    });
    const auto chosen =
        std::max_element(assigned.arms.begin(), assigned.arms.end(),
                         [](const auto& a, const auto& b) { return SlotPrecedence(a) < SlotPrecedence(b); });
    if (chosen != assigned.arms.end()) {
      assigned.arms = {AssignedArm(*chosen)};
      const AssignedArm& arm = assigned.arms[0];
      shown = slot->Find(VariantOf(arm)->variant);
      attribution.set_arm(absl::StrCat(arm.experiment->id, "/", ArmOf(arm).name));
      v1::ServedArm* served = response->add_arms();
      served->set_experiment(arm.experiment->id);
      served->set_arm(ArmOf(arm).name);
      served->set_reason(std::string(ReasonName(arm.reason)));
      const absl::Status status = hosted->experiments->RecordExposure(
          assigned, arm, {.request_id = request_id, .surface = request.surface(), .context = &context});
      if (!status.ok()) {
        spdlog::error(
            "exposure_not_written experiment={} reason=\"{}\" effect=\"the unit's next request tries again\"",
            arm.experiment->id, std::string(status.message()));
      }
      const ServedAnswer measured{.latency = absl::Now() - now};
      if (hosted->experiments->RecordServed(assigned, measured)) host_->RollBackViolated(hosted);
    }
  }
  if (shown == nullptr && request.variant().empty()) shown = slot->Shown(context, now);
  response->set_request_id(request_id);
  if (shown != nullptr) {
    response->set_variant(shown->id);
    *response->mutable_payload() = shown->record.payload();
    attribution.set_slot_variant(SlotVariantId{slot->id, shown->id}.Name());
  }
  response->set_attribution_token(engine_->MakeAttributionToken(attribution));
  return absl::OkStatus();
}

}  // namespace waymark
