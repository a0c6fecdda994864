#include "serving/services/admin_service.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "recommend/vector_index.h"
#include "serving/resource_name.h"
#include "serving/services/data_check_service.h"
#include "serving/services/query_report_service.h"
#include "waymark/v1/admin.pb.h"

namespace waymark {
namespace {

int64_t Lag(LogOffset end, LogOffset position) { return static_cast<int64_t>(end - std::min(end, position)); }

void Fill(const CollectionStatus& from, v1::CollectionStatus* status) {
  status->set_name(FormatCollection({from.tenant, from.collection}));
  status->set_items(from.counts.items);
  status->set_users(from.counts.users);
  status->set_events(from.counts.events);
  status->set_catalog_lag(Lag(from.log_end, from.catalog_position));
  status->set_index_lag(Lag(from.log_end, from.index_position));
  status->set_behaviour_lag(Lag(from.log_end, from.behaviour_position));
  status->set_indexed_items(from.indexed_items);
  status->set_index_segments(from.index_segments);
  status->set_index_bytes(from.index_bytes);
  status->set_vectors(from.vectors);
  status->set_active_release(from.release);
  // An id has no spaces, so that nobody takes this for a release that serves.
  if (!from.unloaded_release.empty()) {
    status->set_active_release(absl::StrCat(
        from.unloaded_release, " (should serve, and is not loaded: ", from.unloaded_reason, ")"));
  }
  status->set_retriever(from.retriever);
  status->set_ranker(from.ranker);
  for (const PartSize& part : from.parts) {
    v1::PartStatus* out = status->add_parts();
    out->set_name(part.name);
    out->set_memory_bytes(part.memory_bytes);
    out->set_disk_bytes(part.disk_bytes);
    out->set_rebuild_reason(part.rebuild_reason);
  }
  if (!from.suggesting) return;
  status->set_suggestions(from.suggestions.entries);
  status->set_suggestion_bytes(from.suggestions.bytes);
  status->set_suggestion_lag(Lag(from.log_end, from.suggestions.position));
  status->set_past_queries(from.suggestions.past_queries);
  status->set_suggestion_rebuild_reason(from.suggestions.rebuild_reason);
}

absl::Status GetStatus(Engine* engine, absl::Time started, v1::Status* response) {
  const Store& store = engine->store();
  response->set_version(WAYMARK_VERSION);
  response->set_data_folder(store.data_folder().string());
  response->set_uptime_seconds(absl::ToInt64Seconds(absl::Now() - started));
  response->set_store_bytes(store.DiskBytes());
  response->set_log_end(static_cast<int64_t>(store.End()));
  for (Collection* collection : engine->Collections())
    Fill(collection->status(), response->add_collections());
  response->set_faiss_build(VectorIndex::FaissBuild());
  response->set_served_records_dropped(engine->served_records_dropped());
  return absl::OkStatus();
}

absl::Status CreateCheckpoint(Engine* engine, v1::CreateCheckpointResponse* response) {
  // What the checkpoint holds is at least what the log held before it was made.
  const LogOffset end = engine->store().End();
  auto path = engine->store().CreateCheckpoint();
  if (!path.ok()) return path.status();
  response->set_path(path->lexically_relative(engine->store().data_folder()).string());
  response->set_log_end(static_cast<int64_t>(end));
  return absl::OkStatus();
}

}  // namespace

void RegisterAdmin(Engine* engine, absl::Time started, MethodRegistry* registry) {
  const std::string service = "waymark.v1.AdminService.";
  registry->Add<v1::GetStatusRequest, v1::Status>(
      service + "GetStatus", {},
      [engine, started](const auto&, auto* r, const CallContext&) { return GetStatus(engine, started, r); });
  registry->Add<v1::CreateCheckpointRequest, v1::CreateCheckpointResponse>(
      service + "CreateCheckpoint", {.lane = Lane::kBulk},
      [engine](const auto&, auto* r, const CallContext&) { return CreateCheckpoint(engine, r); });
  RegisterQueryReport(engine, registry);
  RegisterDataCheck(engine, registry);
}

}  // namespace waymark
