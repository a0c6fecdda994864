#include "serving/services/data_check_service.h"

#include "absl/strings/str_cat.h"
#include "serving/resource_name.h"
#include "serving/services/collection_access.h"
#include "store/store_check.h"

namespace waymark {
namespace {

constexpr int kMostFindingsAnswered = 1000;

std::string NameOf(const CollectionCheck& check) {
  return check.name.collection.empty() ? std::string() : FormatCollection(check.name);
}

absl::StatusOr<std::vector<Collection*>> Asked(Engine* engine, const std::string& parent,
                                               const CallContext& context) {
  if (parent.empty()) return engine->Collections();
  auto collection = OpenForRead(engine, parent, "", context);
  if (!collection.ok()) return collection.status();
  return std::vector<Collection*>{*collection};
}

absl::Status CheckData(Engine* engine, const v1::CheckDataRequest& request, v1::CheckDataResponse* response,
                       const CallContext& context) {
  auto collections = Asked(engine, request.parent(), context);
  if (!collections.ok()) return collections.status();
  std::vector<CollectionCheck> checks;
  CollectionCheck& store = checks.emplace_back();
  store.name = {"", ""};
  CheckStoreFiles(engine->store(), &store.parts.emplace_back(PartCheck{.part = "store"}));
  engine->CheckServed(&store.parts.emplace_back(PartCheck{.part = "served"}));
  for (Collection* collection : *collections) {
    auto parts = collection->Check({.repair = request.repair()}, context.deadline);
    if (!parts.ok()) return parts.status();
    checks.push_back({collection->name(), *std::move(parts)});
  }
  ToMessage(checks, response);
  return absl::OkStatus();
}

}  // namespace

void ToMessage(const std::vector<CollectionCheck>& checks, v1::CheckDataResponse* response) {
  for (const CollectionCheck& check : checks) {
    for (const PartCheck& from : check.parts) {
      v1::CheckedPart* part = response->add_parts();
      part->set_collection(NameOf(check));
      part->set_part(from.part);
      part->set_files(from.files);
      part->set_bytes(from.bytes);
      part->set_items(from.items);
      part->set_log_position(static_cast<int64_t>(from.position));
      for (const PartFinding& found : from.findings) {
        if (response->findings_size() == kMostFindingsAnswered) break;
        v1::CheckFinding* finding = response->add_findings();
        finding->set_collection(NameOf(check));
        finding->set_part(from.part);
        finding->set_where(found.where);
        finding->set_what(found.what);
        finding->set_remedy(found.remedy);
        finding->set_repaired(found.repaired);
      }
    }
  }
  response->set_findings_count(FindingsOf(checks));
}

void RegisterDataCheck(Engine* engine, MethodRegistry* registry) {
  registry->Add<v1::CheckDataRequest, v1::CheckDataResponse>(
      "waymark.v1.AdminService.CheckData", {.lane = Lane::kBulk},
      [engine](const v1::CheckDataRequest& request, v1::CheckDataResponse* response,
               const CallContext& context) { return CheckData(engine, request, response, context); });
}

}  // namespace waymark
