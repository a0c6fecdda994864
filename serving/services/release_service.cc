#include "serving/services/release_service.h"

#include "absl/strings/str_cat.h"
#include "serving/services/collection_access.h"
#include "serving/services/time_messages.h"
#include "serving/status_details.h"
#include "waymark/v1/release.pb.h"

namespace waymark {
namespace {

// They load models; searches must not wait for them.
constexpr MethodOptions kLoading = {.lane = Lane::kBulk};

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

absl::Status ActivateRelease(Engine* engine, const v1::ActivateReleaseRequest& request, v1::Release* response,
                             const CallContext& context) {
  if (auto status = CheckId(request.id()); !status.ok()) return status;
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  if (auto status = (*collection)->ActivateRelease(request.id(), request.reason()); !status.ok())
    return status;
  auto record = engine->store().GetRelease((*collection)->scope(), request.id());
  if (!record.ok()) return record.status();
  Fill(**collection, *record, response);
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
