// Decisions: asked for, or made by themselves. Each is one batch under a compare-and-set.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "experiment/decisions/experiment_check.h"
#include "experiment/experiments_impl.h"

namespace waymark {
namespace {

using storage::DecisionRecord;
using storage::ExperimentRecord;

constexpr char kAutomatic[] = "automatic";

DecisionRecord MakeDecision(const ExperimentRecord& before, const ExperimentRecord& after,
                            const DecisionRequest& request, const Evidence* evidence) {
  DecisionRecord decision;
  decision.set_time_us(after.state_time_us());
  decision.set_by(request.by);
  decision.set_action(std::string(ActionName(request.move.action)));
  decision.set_reason(request.reason);
  decision.set_override_reason(request.override_reason);
  decision.set_state_before(before.state());
  decision.set_state_after(after.state());
  decision.set_coverage_before(before.coverage());
  decision.set_coverage_after(after.coverage());
  if (evidence == nullptr) return decision;
  for (const auto& [name, number] : evidence->Numbers()) (*decision.mutable_seen())[name] = number;
  return decision;
}

bool Starts(Action action) { return action == Action::kStart || action == Action::kStartShadow; }

void FreezeWeights(ExperimentRecord* record) {
  auto& weights = *record->add_weights();
  weights.set_from_us(record->start_time_us());
  for (const storage::ArmRecord& arm : record->arms()) weights.add_weights(arm.weight());
}

absl::Status Unmet(const std::string& id, const std::vector<std::string>& unmet) {
  return absl::FailedPreconditionError(
      absl::StrCat("experiment '", id, "': ", absl::StrJoin(unmet, "; "),
                   ". Wait, or set it aside with an override_reason (command line: --override), which is "
                   "recorded"));
}

}  // namespace

absl::StatusOr<Evidence> Experiments::Impl::EvidenceOf(const ExperimentRecord& record) {
  Evidence evidence;
  if (record.state() == ExperimentRecord::DRAFT) return evidence;
  absl::Status status = WithFigures(record, [&](LiveExperiment& one) {
    const Measures measures = MeasuresOf(one, record);
    evidence = GatherEvidence(InputOf(one, record, measures));
  });
  if (!status.ok()) return status;
  return evidence;
}

Experiments::Impl::Measures Experiments::Impl::MeasuresOf(LiveExperiment& one,
                                                          const ExperimentRecord& record) {
  std::lock_guard<std::mutex> lock(one.served_mutex);
  Measures measures{one.served, one.shadow, {one.served.shares().begin(), one.served.shares().end()}};
  if (record.state() != ExperimentRecord::SHADOW) return measures;
  for (int arm = 0; arm < measures.served.arms_size(); ++arm) {
    *measures.served.mutable_arms(arm) = one.shadow[static_cast<size_t>(arm)].copies;
  }
  return measures;
}

absl::StatusOr<ExperimentRecord> Experiments::Impl::Decide(const std::string& id,
                                                           const DecisionRequest& request,
                                                           const Evidence* known) {
  if (request.by.empty()) return absl::InvalidArgumentError("by is empty; it takes the name of who decides");
  auto before = store->GetExperiment(scope, id);
  if (!before.ok()) return before.status();
  const int64_t revision = request.expected_revision != 0 ? request.expected_revision : before->revision();
  const absl::Time now = options.clock->Now();
  auto after = Apply(*before, request.move, now);
  if (!after.ok()) return after.status();
  Evidence evidence;
  if (Starts(request.move.action)) {
    if (before->hypothesis().empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "hypothesis of experiment '", id, "' is empty: write down what is expected, the start freezes it"));
    }
    if (absl::Status status = Check(*before); !status.ok()) return status;
    FreezeWeights(&*after);
  } else if (known != nullptr) {
    evidence = *known;
  } else if (!IsOver(*before)) {  // to take back what was released long ago waits for no log
    auto gathered = EvidenceOf(*before);
    if (!gathered.ok()) return gathered.status();
    evidence = *std::move(gathered);
    const std::vector<std::string> unmet = UnmetConditions(*before, request.move, evidence, now);
    if (!unmet.empty() && request.override_reason.empty()) return Unmet(id, unmet);
  }
  const DecisionRecord decision =
      MakeDecision(*before, *after, request, Starts(request.move.action) ? nullptr : &evidence);
  auto written = store->PutExperiment(scope, *std::move(after), revision, &decision);
  if (!written.ok()) return written.status();
  if (absl::Status status = Install(*written); !status.ok()) return status;
  return written;
}

absl::StatusOr<ExperimentRecord> Experiments::Decide(const std::string& id, const DecisionRequest& request) {
  return impl_->Decide(id, request, nullptr);
}

absl::StatusOr<Advice> Experiments::Advise(const std::string& id) {
  auto record = Get(id);
  if (!record.ok()) return record.status();
  if (record->state() == ExperimentRecord::DRAFT) {
    return absl::FailedPreconditionError(
        absl::StrCat("experiment '", id, "' is a draft, there is nothing to decide by: start it first"));
  }
  auto evidence = impl_->EvidenceOf(*record);
  if (!evidence.ok()) return evidence.status();
  return waymark::Advise(*record, *evidence, impl_->options.clock->Now());
}

std::vector<DecisionRecord> Experiments::Decisions(const std::string& id) const {
  return impl_->store->Decisions(impl_->scope, id);
}

std::vector<DecisionRecord> Experiments::RollBackViolated() {
  std::vector<DecisionRecord> decided;
  for (const auto& one : impl_->AllLive()) {
    auto record = Get(one->id);
    if (!record.ok() || !IsLive(record->state())) continue;
    const Evidence evidence{.guardrails = CheckGuardrails(*record, Impl::MeasuresOf(*one, *record).served)};
    const auto next = RollBackMove(*record, evidence.guardrails);
    if (!next) continue;
    auto after =
        impl_->Decide(one->id, {next->move, kAutomatic, next->reason, "", record->revision()}, &evidence);
    if (after.ok()) decided.push_back(Decisions(one->id).back());
  }
  return decided;
}

absl::StatusOr<std::vector<DecisionRecord>> Experiments::Tick() {
  std::vector<DecisionRecord> decided = RollBackViolated();
  for (const auto& one : impl_->AllLive()) {
    auto record = Get(one->id);
    if (!record.ok() || !IsLive(record->state())) continue;
    auto evidence = impl_->EvidenceOf(*record);
    if (!evidence.ok()) return evidence.status();
    const auto next = NextMove(*record, *evidence, impl_->options.clock->Now());
    if (absl::Status status = impl_->TakeLook(*one, *record); !status.ok()) return status;
    if (absl::Status status = impl_->MoveShares(*one, *record); !status.ok()) return status;
    if (!next) continue;
    auto after =
        impl_->Decide(one->id, {next->move, kAutomatic, next->reason, "", record->revision()}, &*evidence);
    // Somebody decided in between, or the clock is wrong: the next tick looks again.
    if (absl::IsAborted(after.status()) || absl::IsFailedPrecondition(after.status())) continue;
    if (!after.ok()) return after.status();
    decided.push_back(Decisions(one->id).back());
  }
  absl::Status status = impl_->SaveServed();
  if (status.ok()) status = impl_->RetireEnded();
  if (!status.ok()) return status;
  return decided;
}

absl::Status Experiments::Impl::SaveServed() {
  std::vector<storage::ServedSumsRecord> changed;
  for (const auto& one : AllLive()) {
    std::lock_guard<std::mutex> lock(one->served_mutex);
    if (one->served_changed) {
      one->served.clear_shadow();
      for (const ShadowSums& sums : one->shadow) *one->served.add_shadow() = RecordOf(sums);
      changed.push_back(one->served);
    }
    one->served_changed = false;
  }
  return changed.empty() ? absl::OkStatus() : store->PutServedSums(scope, changed);
}

std::vector<ExperimentRecord> Experiments::PendingReleases() const {
  std::vector<ExperimentRecord> pending;
  for (ExperimentRecord& record : List()) {
    if (record.release_pending()) pending.push_back(std::move(record));
  }
  return pending;
}

absl::Status Experiments::AcknowledgeRelease(ExperimentRecord decided) {
  if (!decided.release_pending()) return absl::OkStatus();
  decided.set_release_pending(false);
  const int64_t revision = decided.revision();
  auto written = impl_->store->PutExperiment(impl_->scope, std::move(decided), revision, nullptr);
  if (!written.ok()) return written.status();
  return impl_->Install(*written);
}

}  // namespace waymark
