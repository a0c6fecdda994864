#include "serving/services/release_service.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "serving/services/collection_access.h"
#include "serving/services/time_messages.h"
#include "serving/status_details.h"
#include "waymark/v1/release.pb.h"

namespace waymark {
namespace {

// They load models; searches must not wait for them.
constexpr MethodOptions kLoading = {.lane = Lane::kBulk};
// Unless the caller says otherwise; versions trained on different days differ by less.
constexpr double kMostMetricDrop = .2;

void Fill(const Collection& collection, const storage::ReleaseRecord& record, v1::Release* release) {
  release->set_id(record.id());
  release->set_retriever_version(record.retriever_version());
  release->set_ranker_version(record.ranker_version());
  release->set_note(record.note());
  SetTimestamp(record.create_time_us(), release->mutable_create_time());
  release->set_active(!record.id().empty() && collection.active_release() == record.id());
  if (const UnloadedRelease unloaded = collection.unloaded_release();
      !unloaded.id.empty() && unloaded.id == record.id()) {
    release->set_note(absl::StrCat("should serve, and is not loaded: ", unloaded.reason,
                                   record.note().empty() ? "" : "; ", record.note()));
  }
  for (const auto& from : record.plan().sources()) {
    v1::Release::Source* source = release->add_sources();
    source->set_name(from.name());
    source->set_limit(from.limit());
    source->set_weight(from.weight());
  }
}

absl::Status CheckId(const std::string& id) {
  return id.empty() ? InvalidField("id", "is empty; it takes a release's id") : absl::OkStatus();
}

absl::Status CreateRelease(Engine* engine, const v1::CreateReleaseRequest& request, v1::Release* response) {
  auto collection = OpenForWrite(engine, request.parent());
  if (!collection.ok()) return collection.status();
  storage::ReleaseRecord record;
  record.set_id(request.id());
  record.set_retriever_version(request.retriever_version());
  record.set_ranker_version(request.ranker_version());
  record.set_note(request.note());
  for (const v1::Release::Source& from : request.sources()) {
    auto* source = record.mutable_plan()->add_sources();
    source->set_name(from.name());
    source->set_limit(from.limit());
    source->set_weight(from.weight());
  }
  auto created = (*collection)->CreateRelease(std::move(record));
  if (!created.ok()) return created.status();
  Fill(**collection, *created, response);
  return absl::OkStatus();
}

absl::Status ListReleases(Engine* engine, const v1::ListReleasesRequest& request,
                          v1::ListReleasesResponse* response, const CallContext& context) {
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  for (const storage::ReleaseRecord& record : engine->store().Releases((*collection)->scope())) {
    Fill(**collection, record, response->add_releases());
  }
  return absl::OkStatus();
}

absl::Status GetRelease(Engine* engine, const v1::GetReleaseRequest& request, v1::Release* response,
                        const CallContext& context) {
  if (auto status = CheckId(request.id()); !status.ok()) return status;
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  auto record = engine->store().GetRelease((*collection)->scope(), request.id());
  if (!record.ok()) return record.status();
  Fill(**collection, *record, response);
  return absl::OkStatus();
}

// What experiments say that had the release score copies of the traffic.
ReleaseCheck CheckShadow(const Store& store, Scope scope, const std::string& release) {
  ReleaseCheck check{.name = "shadow", .detail = "it has not been in the shadow"};
  for (const storage::ExperimentRecord& experiment : store.Experiments(scope)) {
    for (int arm = 1; arm < experiment.arms_size(); ++arm) {
      if (experiment.arms(arm).release_id() != release) continue;
      for (const storage::ServedSumsRecord& sums : store.ServedSums(scope)) {
        if (sums.experiment() != experiment.id() || arm >= sums.shadow_size()) continue;
        const storage::ServedSums& copies = sums.shadow(arm).copies();
        if (copies.answers() == 0) continue;
        check.detail = absl::StrFormat(
            "%.0f copies in experiment %s, %.2f%% failed, %.2f%% empty", copies.answers(), experiment.id(),
            100 * copies.errors() / copies.answers(), 100 * copies.empty() / copies.answers());
      }
      for (const storage::DecisionRecord& decision : store.Decisions(scope, experiment.id())) {
        if (decision.state_before() != storage::ExperimentRecord::SHADOW ||
            decision.state_after() != storage::ExperimentRecord::ROLLED_BACK) {
          continue;
        }
        check.holds = false;
        check.detail = absl::StrCat("experiment ", experiment.id(),
                                    " rolled it back in the shadow: ", decision.reason());
      }
    }
  }
  return check;
}

absl::Status Judge(const v1::ActivateReleaseRequest& request, const std::vector<ReleaseCheck>& checks) {
  std::string failed;
  bool fatal = false;
  for (const ReleaseCheck& check : checks) {
    if (check.holds || (!check.fatal && !request.override_reason().empty())) continue;
    fatal |= check.fatal;
    absl::StrAppend(&failed, failed.empty() ? "" : "; ", check.name, ": ", check.detail);
  }
  if (failed.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "release '", request.id(), "' is not activated: ", failed,
      fatal ? "" : ". Set it aside with an override_reason (command line: --override), which is recorded"));
}

absl::Status ActivateRelease(Engine* engine, const v1::ActivateReleaseRequest& request, v1::Release* response,
                             const CallContext& context) {
  if (auto status = CheckId(request.id()); !status.ok()) return status;
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  const double drop = request.has_max_metric_drop() ? request.max_metric_drop() : kMostMetricDrop;
  if (!(drop >= 0 && drop <= 1)) {
    return InvalidField("max_metric_drop", absl::StrCat("is ", drop, "; it takes a share from 0 to 1"));
  }
  auto checks = (*collection)->CheckRelease(request.id(), drop);
  if (!checks.ok()) return checks.status();
  checks->push_back(CheckShadow(engine->store(), (*collection)->scope(), request.id()));
  if (auto status = Judge(request, *checks); !status.ok() && !request.validate_only()) return status;
  if (!request.validate_only()) {
    const std::string reason = request.override_reason().empty()
                                   ? request.reason()
                                   : absl::StrCat(request.reason(), request.reason().empty() ? "" : "; ",
                                                  "checks set aside: ", request.override_reason());
    if (auto status = (*collection)->ActivateRelease(request.id(), reason); !status.ok()) return status;
  }
  auto record = engine->store().GetRelease((*collection)->scope(), request.id());
  if (!record.ok()) return record.status();
  Fill(**collection, *record, response);
  for (const ReleaseCheck& from : *checks) {
    v1::Release::Check* check = response->add_checks();
    check->set_name(from.name);
    check->set_holds(from.holds);
    check->set_detail(from.detail);
  }
  return absl::OkStatus();
}

absl::Status RollbackRelease(Engine* engine, const v1::RollbackReleaseRequest& request,
                             v1::RollbackReleaseResponse* response, const CallContext& context) {
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  auto active = (*collection)->RollbackRelease(request.reason());
  if (!active.ok()) return active.status();
  response->set_active_release(*active);
  return absl::OkStatus();
}

}  // namespace

void RegisterReleases(Engine* engine, MethodRegistry* registry) {
  const std::string service = "waymark.v1.ReleaseService.";
  registry->Add<v1::CreateReleaseRequest, v1::Release>(
      service + "CreateRelease", kLoading,
      [engine](const auto& q, auto* r, const CallContext&) { return CreateRelease(engine, q, r); });
  registry->Add<v1::ListReleasesRequest, v1::ListReleasesResponse>(
      service + "ListReleases", {},
      [engine](const auto& q, auto* r, const CallContext& c) { return ListReleases(engine, q, r, c); });
  registry->Add<v1::GetReleaseRequest, v1::Release>(
      service + "GetRelease", {},
      [engine](const auto& q, auto* r, const CallContext& c) { return GetRelease(engine, q, r, c); });
  registry->Add<v1::ActivateReleaseRequest, v1::Release>(
      service + "ActivateRelease", kLoading,
      [engine](const auto& q, auto* r, const CallContext& c) { return ActivateRelease(engine, q, r, c); });
  registry->Add<v1::RollbackReleaseRequest, v1::RollbackReleaseResponse>(
      service + "RollbackRelease", kLoading,
      [engine](const auto& q, auto* r, const CallContext& c) { return RollbackRelease(engine, q, r, c); });
}

}  // namespace waymark
