// What requests ask: arms, exposures, what was measured.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "catalog/field_value.h"
#include "experiment/experiments_impl.h"
#include "store/text_check.h"

namespace waymark {
namespace {

using storage::ExperimentRecord;
using storage::ExposureRecord;

// An answer in so many looks at the guardrails.
constexpr int64_t kAnswersALook = 10;

std::string SegmentOf(const ExperimentRecord& record, const ExposureContext& about) {
  if (record.segment_by().empty()) return std::string(about.surface);
  if (about.context == nullptr) return {};
  const auto found = about.context->fields().find(record.segment_by());
  if (found == about.context->fields().end()) return {};
  return ScalarText(found->second).value_or(std::string());
}

ExposureRecord MakeExposure(const ExperimentRecord& record, const LiveExperiment& live,
                            const AssignedArm& arm, const ExposureContext& about, absl::Time now) {
  const storage::ReleaseRecord& release = live.releases[static_cast<size_t>(arm.arm)];
  ExposureRecord exposure;
  exposure.set_experiment(record.id());
  exposure.set_unit(arm.unit);
  exposure.set_arm(arm.arm);
  exposure.set_arm_name(record.arms(arm.arm).name());
  exposure.set_hash_version(record.hash_version());
  exposure.set_release_id(record.arms(arm.arm).release_id());
  exposure.set_slot_variant(record.arms(arm.arm).slot_variant());
  exposure.set_retriever_sha256(release.retriever_sha256());
  exposure.set_ranker_sha256(release.ranker_sha256());
  exposure.set_propensity(arm.propensity);
  exposure.set_request_id(std::string(about.request_id));
  exposure.set_surface(std::string(about.surface));
  exposure.set_segment(SegmentOf(record, about));
  exposure.set_time_us(absl::ToUnixMicros(now));
  exposure.set_adopted_from(arm.adopted_from);
  return exposure;
}

bool AnyViolated(const ExperimentRecord& record, const storage::ServedSumsRecord& served) {
  for (const GuardrailResult& guardrail : CheckGuardrails(record, served)) {
    if (guardrail.violated) return true;
  }
  return false;
}

}  // namespace

bool Experiments::any() const { return !impl_->CurrentPlan()->plan.experiments.empty(); }

Experiments::Assignments Experiments::Assign(const AssignmentRequest& request) const {
  Assignments assigned{impl_->CurrentPlan(), {}};
  assigned.arms =
      waymark::Assign(assigned.plan->plan, request,
                      [&](const ExperimentPlan& experiment, const std::string& unit) -> std::optional<int> {
                        return assigned.plan->entries.find(&experiment)->second.live->enrolments.ArmOf(unit);
                      });
  return assigned;
}

absl::Status Experiments::CheckOverrides(const std::map<std::string, std::string>& overrides) const {
  const std::shared_ptr<const Plan> current = impl_->CurrentPlan();
  for (const auto& [id, arm] : overrides) {
    std::string experiments, arms;
    bool found = false;
    for (const auto& experiment : current->plan.experiments) {
      absl::StrAppend(&experiments, experiments.empty() ? "" : ", ", experiment->id);
      if (experiment->id != id) continue;
      for (const ArmPlan& known : experiment->arms) {
        absl::StrAppend(&arms, arms.empty() ? "" : ", ", known.name);
        found = found || known.name == arm;
      }
    }
    if (found) continue;
    if (!arms.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("names arm '", Shortened(arm), "' of experiment '", id, "', which has ", arms));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "names '", Shortened(id),
        "', which is no running experiment; those are: ", experiments.empty() ? "none" : experiments));
  }
  return absl::OkStatus();
}

absl::Status Experiments::Impl::MarkConflict(LiveExperiment& one, const std::string& unit) {
  if (!one.enrolments.MarkConflict(unit)) return absl::OkStatus();
  auto exposure = store->GetExposure(scope, one.id, unit);
  if (!exposure.ok()) return exposure.status();
  exposure->set_conflict(true);
  return store->PutExposures(scope, {*exposure});
}

absl::Status Experiments::Impl::JoinSame(LiveExperiment& one, const std::string& visitor,
                                         const std::string& user) {
  if (!one.enrolments.MarkSame(visitor, user)) return absl::OkStatus();
  auto exposure = store->GetExposure(scope, one.id, visitor);
  if (absl::IsNotFound(exposure.status())) return absl::OkStatus();  // erased meanwhile
  if (!exposure.ok()) return exposure.status();
  exposure->set_adopted_from(user);
  return store->PutExposures(scope, {*exposure});
}

absl::Status Experiments::RecordExposure(const Assignments& assigned, const AssignedArm& arm,
                                         const ExposureContext& about) {
  return RecordExposures({{&assigned, &arm, about}});
}

absl::Status Experiments::RecordExposures(absl::Span<const Exposed> exposed) {
  std::vector<ExposureRecord> records;  // enrolled, not yet written
  std::vector<LiveExperiment*> enrolled_in;
  const auto write = [&] {
    if (records.empty()) return absl::OkStatus();
    absl::Status status = impl_->store->PutExposures(impl_->scope, records);
    if (!status.ok()) {
      for (size_t i = 0; i < records.size(); ++i) enrolled_in[i]->enrolments.Forget(records[i].unit());
    }
    records.clear(), enrolled_in.clear();
    return status;
  };
  // Marks what is in the store.
  const auto mark = [&](LiveExperiment& live, const std::string& unit) {
    absl::Status status = write();
    return status.ok() ? impl_->MarkConflict(live, unit) : status;
  };
  for (const auto& [assigned, arm, about] : exposed) {
    if (!arm->Counts() || arm->Interleaved()) continue;
    const Plan::Entry& entry = assigned->plan->entries.find(arm->experiment)->second;
    LiveExperiment& live = *entry.live;
    if (!arm->conflicts_with.empty()) {
      for (const std::string& unit : {arm->unit, arm->conflicts_with}) {
        if (absl::Status status = mark(live, unit); !status.ok()) return status;
      }
    }
    if (!arm->same_as.empty()) {
      absl::Status status = write();
      if (status.ok()) status = impl_->JoinSame(live, arm->same_as, arm->unit);
      if (!status.ok()) return status;
    }
    if (arm->reason == AssignmentReason::kSticky) continue;
    ExposureRecord exposure = MakeExposure(entry.record, live, *arm, about, impl_->options.clock->Now());
    exposure.set_number(impl_->people.NumberOf(arm->unit).value_or(0));
    switch (live.enrolments.Enrol(exposure)) {
      case Enrolments::Outcome::kKnown:
        break;
      case Enrolments::Outcome::kConflict:
        if (absl::Status status = mark(live, arm->unit); !status.ok()) return status;
        break;
      case Enrolments::Outcome::kNew:
        records.push_back(std::move(exposure));
        enrolled_in.push_back(&live);
    }
  }
  return write();
}

absl::Status Experiments::RecordInterleaved(const Assignments& assigned, const AssignedArm& arm,
                                            const ExposureContext& about, const InterleavedAnswer& answer) {
  if (!arm.Interleaved() || about.request_id.empty()) return absl::OkStatus();
  const Plan::Entry& entry = assigned.plan->entries.find(arm.experiment)->second;
  LiveExperiment& live = *entry.live;
  ExposureRecord list = MakeExposure(entry.record, live, arm, about, impl_->options.clock->Now());
  list.set_unit(absl::StrCat("r:", std::string(about.request_id)));
  list.set_arm_name("interleaved");
  std::vector<std::string> releases;
  for (const storage::ArmRecord& of_arm : entry.record.arms()) releases.push_back(of_arm.release_id());
  list.set_release_id(absl::StrJoin(releases, "+"));
  list.set_reader(answer.reader);
  if (!answer.reader.empty()) list.set_number(impl_->people.NumberOf(answer.reader).value_or(0));
  for (const DraftedItem& place : answer.places) {
    if (static_cast<size_t>(list.items_size()) == InterleavedLists::kMostPlaces) break;
    list.add_items(place.item);
    list.mutable_teams()->push_back(static_cast<char>(place.team));
  }
  if (absl::Status status = impl_->store->PutExposures(impl_->scope, {list}); !status.ok()) return status;
  std::lock_guard<std::mutex> lock(live.new_lists_mutex);
  live.new_lists.push_back(std::move(list));
  return absl::OkStatus();
}

bool Experiments::RecordServed(const Assignments& assigned, const ServedAnswer& answer) {
  bool violated = false;
  for (const AssignedArm& arm : assigned.arms) {
    if (arm.arm < 0 || !arm.Counts() || arm.Interleaved()) continue;
    const Plan::Entry& entry = assigned.plan->entries.find(arm.experiment)->second;
    std::lock_guard<std::mutex> lock(entry.live->served_mutex);
    storage::ServedSums& sums = *entry.live->served.mutable_arms(arm.arm);
    AddAnswer(answer, &sums);
    entry.live->served_changed = true;
    if (static_cast<int64_t>(sums.answers()) % kAnswersALook == 0) {
      violated |= AnyViolated(entry.record, entry.live->served);
    }
  }
  return violated;
}

absl::Status Experiments::Forget(const std::string& unit) {
  std::lock_guard<std::mutex> follow(impl_->follow_mutex);
  for (const auto& live : impl_->AllLive()) {
    if (live->lists != nullptr) {
      // Who had no number yet when the list was shown stands in it by key.
      const UserNumber number = impl_->people.NumberOf(unit).value_or(0);
      if (absl::Status status = impl_->TakeNews(*live, impl_->position); !status.ok()) return status;
      live->lists->Erase(number);
      live->lists->Erase(unit);
      if (absl::Status status = impl_->EraseLists(live->id, number, unit); !status.ok()) return status;
      continue;
    }
    live->outcomes->Exclude(unit);
    live->enrolments.Forget(unit);
    if (absl::Status status = impl_->store->DeleteExposure(impl_->scope, live->id, unit); !status.ok())
      return status;
  }
  ++impl_->forgotten;
  for (const auto& [id, until] : impl_->retired) {
    absl::Status status = impl_->store->DeleteExposure(impl_->scope, id, unit);
    auto record = impl_->store->GetExperiment(impl_->scope, id);
    if (status.ok() && record.ok() && record->mode() == ExperimentRecord::INTERLEAVED) {
      status = impl_->EraseLists(id, impl_->people.NumberOf(unit).value_or(0), unit);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace waymark
