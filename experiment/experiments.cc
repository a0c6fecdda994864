// Opening, records, and the plan that requests see.
#include "experiment/experiments.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "experiment/decisions/experiment_check.h"
#include "experiment/experiments_impl.h"

namespace waymark {
namespace {

using storage::DecisionRecord;
using storage::ExperimentRecord;

absl::Status CheckBy(const std::string& by) {
  if (!by.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("by is empty; it takes the name of who decides");
}

DecisionRecord Note(const ExperimentRecord& record, const std::string& action, const std::string& by,
                    absl::Time now) {
  DecisionRecord decision;
  decision.set_action(action);
  decision.set_by(by);
  decision.set_time_us(absl::ToUnixMicros(now));
  decision.set_state_before(record.state());
  decision.set_state_after(record.state());
  decision.set_coverage_before(record.coverage());
  decision.set_coverage_after(record.coverage());
  return decision;
}

std::vector<double> WeightsOf(const ExperimentRecord& record) {
  std::vector<double> weights;
  for (const storage::ArmRecord& arm : record.arms()) weights.push_back(arm.weight());
  return weights;
}

HashVersion VersionOf(ExperimentRecord::HashVersion version) {
  switch (version) {
    case ExperimentRecord::GROWTHBOOK_V1:
      return HashVersion::kGrowthBookV1;
    case ExperimentRecord::PLANOUT:
      return HashVersion::kPlanOut;
    default:
      return HashVersion::kGrowthBookV2;
  }
}

int ArmNamed(const ExperimentRecord& record, const std::string& name) {
  for (int i = 0; i < record.arms_size(); ++i) {
    if (record.arms(i).name() == name) return i;
  }
  return -1;
}

// Whether requests have to do with it.
bool IsServed(const ExperimentRecord& record) {
  return record.state() == ExperimentRecord::RUNNING || record.release_pending();
}

void SetState(const ExperimentRecord& from, ExperimentRecord* to) {
  to->set_state(from.state());
  to->set_coverage(from.coverage());
  to->set_winner(from.winner());
  to->set_release_pending(from.release_pending());
  to->set_create_time_us(from.create_time_us());
  to->set_start_time_us(from.start_time_us());
  to->set_state_time_us(from.state_time_us());
  to->set_decisions(from.decisions());
  *to->mutable_weights() = from.weights();
}

}  // namespace

std::optional<UserNumber> StorePeople::NumberOf(const std::string& unit) const {
  if (unit[0] != 'u' && unit[0] != 'v') return std::nullopt;
  const std::string_view id = std::string_view(unit).substr(2);
  return unit[0] == 'u' ? store_->FindUser(scope_, id) : store_->FindVisitor(scope_, id);
}

std::string StorePeople::UnitOf(UserNumber number) const {
  const auto user = store_->GetUser(scope_, number);
  return user.ok() ? absl::StrCat(user->visitor() ? "v:" : "u:", user->id()) : std::string();
}

absl::StatusOr<std::unique_ptr<Experiments>> Experiments::Open(Store* store, Scope scope,
                                                               const ExperimentsOptions& options) {
  auto impl = std::make_unique<Impl>(store, scope, options);
  if (absl::Status status = impl->Load(); !status.ok()) return status;
  return std::unique_ptr<Experiments>(new Experiments(std::move(impl)));
}

Experiments::Experiments(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
// What was measured since the last Tick; a full disk loses that much.
Experiments::~Experiments() {
  impl_->SaveServed().IgnoreError();
  impl_->SaveRetired().IgnoreError();
}

absl::Status Experiments::Impl::Load() {
  bool started = false;
  std::unique_lock<std::shared_mutex> lock(mutex);
  const std::vector<storage::ServedSumsRecord> served = store->ServedSums(scope);
  for (ExperimentRecord& record : store->Experiments(scope)) {
    const auto sums = std::find_if(served.begin(), served.end(), [&](const storage::ServedSumsRecord& one) {
      return one.experiment() == record.id();
    });
    if (sums != served.end() && sums->retired_until() > 0 && IsOver(record)) {
      retired[record.id()] = sums->retired_until();
    } else if (record.state() != ExperimentRecord::DRAFT) {
      auto made = MakeLive(record);
      if (!made.ok()) return made.status();
      if (sums != served.end()) SetServed(*sums, made->get());
      live[record.id()] = *std::move(made);
      started = true;
    }
    records[record.id()] = std::move(record);
  }
  RebuildPlan();
  // What happened before an experiment starts is looked up unit by unit.
  if (!started) position = store->End();
  for (const auto& [id, until] : retired) position = std::min(position, until);
  lock.unlock();
  std::lock_guard<std::mutex> follow(follow_mutex);
  return started || !retired.empty() ? CatchUp() : absl::OkStatus();
}

void Experiments::Impl::SetServed(const storage::ServedSumsRecord& sums, LiveExperiment* one) {
  one->served = sums;
  for (int arm = 0; arm < sums.shadow_size() && static_cast<size_t>(arm) < one->shadow.size(); ++arm) {
    one->shadow[static_cast<size_t>(arm)] = SumsOf(sums.shadow(arm));
  }
}

absl::StatusOr<std::shared_ptr<LiveExperiment>> Experiments::Impl::MakeEmpty(const ExperimentRecord& record) {
  auto made = std::make_shared<LiveExperiment>();
  made->id = record.id();
  auto metrics = PlanMetrics(record, store->GetEventTypes(scope));
  auto primary = PrimaryMetric(record);
  if (!metrics.ok()) return metrics.status();
  if (!primary.ok()) return primary.status();
  if (record.mode() == ExperimentRecord::INTERLEAVED) {
    const MetricPlan& credit = (*metrics)[*primary];
    made->lists = std::make_unique<InterleavedLists>(credit.events, credit.window_us,
                                                     static_cast<size_t>(record.arms_size()));
  }
  made->outcomes = std::make_unique<Outcomes>(record, *std::move(metrics), *primary, &people);
  made->looks = store->Looks(scope, record.id());
  made->looks.set_experiment(record.id());
  made->served.set_experiment(record.id());
  for (const storage::ArmRecord& arm : record.arms()) {
    made->served.add_arms();
    made->shadow.emplace_back();
    auto release = store->GetRelease(scope, arm.release_id());
    made->releases.push_back(release.ok() ? *std::move(release) : storage::ReleaseRecord());
  }
  return made;
}

absl::StatusOr<std::shared_ptr<LiveExperiment>> Experiments::Impl::MakeLive(const ExperimentRecord& record) {
  auto made = MakeEmpty(record);
  if (!made.ok()) return made;
  LiveExperiment& one = **made;
  absl::Status status =
      store->ForEachExposure(scope, record.id(), [&](const storage::ExposureRecord& exposure) {
        if (one.lists != nullptr) {
          one.lists->Add(exposure);
        } else {
          one.enrolments.Enrol(exposure);
        }
        return true;
      });
  if (!status.ok()) return status;
  return made;
}

std::vector<double> Experiments::Impl::SharesOf(const ExperimentRecord& record) const {
  const auto found = live.find(record.id());
  if (record.mode() == ExperimentRecord::BANDIT && found != live.end()) {
    std::lock_guard<std::mutex> lock(found->second->served_mutex);
    const auto& shares = found->second->served.shares();
    if (shares.size() == record.arms_size()) return {shares.begin(), shares.end()};
  }
  return WeightsOf(record);
}

std::shared_ptr<const ExperimentPlan> Experiments::Impl::PlanOf(const ExperimentRecord& record) const {
  auto made = std::make_shared<ExperimentPlan>();
  made->id = record.id();
  made->salt = record.salt();
  made->hash_version = VersionOf(record.hash_version());
  made->unit = static_cast<UnitKind>(record.unit());
  made->coverage = record.coverage();
  const std::vector<double> weights = SharesOf(record);
  made->moving_weights = record.mode() == ExperimentRecord::BANDIT;
  made->ranges = ArmRanges(weights, made->moving_weights ? 1 : record.coverage());
  for (int i = 0; i < record.arms_size(); ++i) {
    const storage::ArmRecord& arm = record.arms(i);
    made->arms.push_back({arm.name(), arm.release_id(), arm.slot_variant(), weights[static_cast<size_t>(i)]});
  }
  made->interleaved = record.mode() == ExperimentRecord::INTERLEAVED;
  for (const auto& [unit, arm] : record.forced()) made->forced[unit] = ArmNamed(record, arm);
  if (!record.layer().empty()) {
    auto layer = std::make_shared<LayerPlan>(LayerPlan{record.layer()});
    for (const storage::LayerRecord& one : store->Layers(scope)) {
      if (one.id() == record.layer()) layer->holdout = one.holdout();
    }
    made->layer = std::move(layer);
    made->slot = {record.slot_begin(), record.slot_end()};
  }
  // Was checked when the experiment was made.
  auto targeting = Targeting::Parse(record.targeting(),
                                    {record.targeting_fields().begin(), record.targeting_fields().end()});
  if (targeting.ok()) made->targeting = std::make_shared<const Targeting>(*std::move(targeting));
  made->closed = !targeting.ok();
  if (record.state() == ExperimentRecord::RELEASED) made->decided_arm = ArmNamed(record, record.winner());
  if (record.state() == ExperimentRecord::ROLLED_BACK) made->decided_arm = 0;
  return made;
}

void Experiments::Impl::RebuildPlan() {
  auto next = std::make_shared<Plan>();
  for (const storage::LayerRecord& layer : store->Layers(scope)) {
    if (layer.id().empty()) next->plan.holdout = layer.holdout();
  }
  for (const auto& [id, record] : records) {
    if (record.state() == ExperimentRecord::SHADOW) {
      next->shadows.push_back({{live.at(id), record}, PlanOf(record)});
    }
    if (!IsServed(record)) continue;
    next->plan.experiments.push_back(PlanOf(record));
    const auto found = live.find(id);
    if (found != live.end()) {
      next->entries[next->plan.experiments.back().get()] = {found->second, record};
    } else if (auto shell = MakeEmpty(record); shell.ok()) {  // retired, and just rolled back
      next->entries[next->plan.experiments.back().get()] = {*std::move(shell), record};
    } else {
      next->plan.experiments.pop_back();
    }
  }
  plan = std::move(next);
}

absl::Status Experiments::Impl::Install(const ExperimentRecord& record) {
  std::shared_ptr<LiveExperiment> made;
  const auto is_retired = [&] {
    std::shared_lock<std::shared_mutex> lock(mutex);
    return retired.contains(record.id());
  };
  if (record.state() != ExperimentRecord::DRAFT && FindLive(record.id()) == nullptr && !is_retired()) {
    auto fresh = MakeLive(record);
    if (!fresh.ok()) return fresh.status();
    made = *std::move(fresh);
  }
  std::unique_lock<std::shared_mutex> lock(mutex);
  if (made != nullptr) live.try_emplace(record.id(), std::move(made));
  const auto known = records.find(record.id());
  if (known != records.end() && known->second.revision() >= record.revision()) return absl::OkStatus();
  records[record.id()] = record;
  RebuildPlan();
  return absl::OkStatus();
}

std::shared_ptr<const Experiments::Plan> Experiments::Impl::CurrentPlan() const {
  std::shared_lock<std::shared_mutex> lock(mutex);
  return plan;
}

std::shared_ptr<LiveExperiment> Experiments::Impl::FindLive(const std::string& id) const {
  std::shared_lock<std::shared_mutex> lock(mutex);
  const auto found = live.find(id);
  return found == live.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<LiveExperiment>> Experiments::Impl::AllLive() const {
  std::shared_lock<std::shared_mutex> lock(mutex);
  std::vector<std::shared_ptr<LiveExperiment>> all;
  for (const auto& [id, one] : live) all.push_back(one);
  return all;
}

absl::Status Experiments::Impl::Check(const ExperimentRecord& record) const {
  const EventTypes types = store->GetEventTypes(scope);
  return CheckExperiment(
      record, {.types = &types,
               .is_release = [&](const std::string& id) { return store->GetRelease(scope, id).ok(); },
               .is_slot_variant =
                   [&](const SlotVariantId& id) {
                     return store->GetCuration(scope, CurationKind::kSlotVariant, id.Key()).ok();
                   },
               .layers = store->Layers(scope),
               .experiments = store->Experiments(scope)});
}

absl::StatusOr<ExperimentRecord> Experiments::Create(ExperimentRecord record, const std::string& by) {
  if (absl::Status status = CheckBy(by); !status.ok()) return status;
  SetState({}, &record);
  FillDefaults(&record);
  const absl::Time now = impl_->options.clock->Now();
  record.set_create_time_us(absl::ToUnixMicros(now));
  record.set_state_time_us(absl::ToUnixMicros(now));
  std::lock_guard<std::mutex> defining(impl_->defining_mutex);
  if (absl::Status status = impl_->Check(record); !status.ok()) return status;
  const DecisionRecord decision = Note(record, "create", by, now);
  auto written = impl_->store->PutExperiment(impl_->scope, std::move(record), 0, &decision);
  if (!written.ok()) return written.status();
  if (absl::Status status = impl_->Install(*written); !status.ok()) return status;
  return written;
}

absl::StatusOr<ExperimentRecord> Experiments::Update(ExperimentRecord record, const std::string& by,
                                                     int64_t expected_revision) {
  if (absl::Status status = CheckBy(by); !status.ok()) return status;
  std::lock_guard<std::mutex> defining(impl_->defining_mutex);
  auto before = Get(record.id());
  if (!before.ok()) return before.status();
  const int64_t revision = expected_revision != 0 ? expected_revision : before->revision();
  SetState(*before, &record);
  record.set_revision(before->revision());
  FillDefaults(&record);
  if (absl::Status status = CheckUpdate(*before, record); !status.ok()) return status;
  if (absl::Status status = impl_->Check(record); !status.ok()) return status;
  const absl::Time now = impl_->options.clock->Now();
  if (record.state() != ExperimentRecord::DRAFT && WeightsOf(record) != WeightsOf(*before)) {
    auto& weights = *record.add_weights();
    weights.set_from_us(absl::ToUnixMicros(now));
    for (const double weight : WeightsOf(record)) weights.add_weights(weight);
  }
  const DecisionRecord decision = Note(record, "update", by, now);
  auto written = impl_->store->PutExperiment(impl_->scope, std::move(record), revision, &decision);
  if (!written.ok()) return written.status();
  if (absl::Status status = impl_->Install(*written); !status.ok()) return status;
  return written;
}

absl::Status Experiments::Delete(const std::string& id, const std::string& by, int64_t expected_revision) {
  if (absl::Status status = CheckBy(by); !status.ok()) return status;
  auto record = Get(id);
  if (!record.ok()) return record.status();
  if (IsLive(record->state()) || record->release_pending()) {
    return absl::FailedPreconditionError(
        absl::StrCat("experiment '", id, "' is ", std::string(StateName(record->state())),
                     ": stop it first (waymark experiment stop), then delete it"));
  }
  const DecisionRecord decision = Note(*record, "delete", by, impl_->options.clock->Now());
  std::lock_guard<std::mutex> follow(impl_->follow_mutex);
  absl::Status status = impl_->store->DeleteExperiment(
      impl_->scope, id, expected_revision != 0 ? expected_revision : record->revision(), decision);
  if (!status.ok()) return status;
  std::unique_lock<std::shared_mutex> lock(impl_->mutex);
  impl_->records.erase(id);
  impl_->live.erase(id);
  impl_->retired.erase(id);
  impl_->RebuildPlan();
  return absl::OkStatus();
}

absl::StatusOr<ExperimentRecord> Experiments::Get(const std::string& id) const {
  return impl_->store->GetExperiment(impl_->scope, id);
}

std::vector<ExperimentRecord> Experiments::List() const { return impl_->store->Experiments(impl_->scope); }

absl::Status Experiments::PutLayer(const storage::LayerRecord& layer) {
  if (absl::Status status = CheckLayer(layer); !status.ok()) return status;
  if (absl::Status status = impl_->store->PutLayer(impl_->scope, layer); !status.ok()) return status;
  std::unique_lock<std::shared_mutex> lock(impl_->mutex);
  impl_->RebuildPlan();
  return absl::OkStatus();
}

absl::Status Experiments::DeleteLayer(const std::string& id) {
  std::lock_guard<std::mutex> defining(impl_->defining_mutex);
  if (absl::Status status = CheckLayerIsFree(id, List()); !id.empty() && !status.ok()) return status;
  if (absl::Status status = impl_->store->DeleteLayer(impl_->scope, id); !status.ok()) return status;
  std::unique_lock<std::shared_mutex> lock(impl_->mutex);
  impl_->RebuildPlan();
  return absl::OkStatus();
}

std::vector<storage::LayerRecord> Experiments::Layers() const { return impl_->store->Layers(impl_->scope); }

}  // namespace waymark
