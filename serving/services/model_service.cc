#include "serving/services/model_service.h"

#include "absl/strings/str_cat.h"
#include "serving/services/collection_access.h"
#include "serving/services/time_messages.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

absl::Status CheckVersion(const std::string& kind, const std::string& version) {
  if (kind != "retriever" && kind != "ranker") {
    return InvalidField("kind", absl::StrCat("is '", kind, "'; it takes retriever or ranker"));
  }
  if (version.empty()) return InvalidField("version", "is empty; it takes the version of a model");
  return absl::OkStatus();
}

absl::Status ListModels(Engine* engine, const v1::ListModelsRequest& request,
                        v1::ListModelsResponse* response, const CallContext& context) {
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  if (!request.kind().empty()) {
    if (auto status = CheckVersion(request.kind(), "any"); !status.ok()) return status;
  }
  for (const storage::ModelRecord& record : engine->store().Models((*collection)->scope())) {
    if (request.kind().empty() || record.kind() == request.kind()) ToMessage(record, response->add_models());
  }
  return absl::OkStatus();
}

absl::Status GetModel(Engine* engine, const v1::GetModelRequest& request, v1::Model* response,
                      const CallContext& context) {
  if (auto status = CheckVersion(request.kind(), request.version()); !status.ok()) return status;
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  auto record = engine->store().GetModel((*collection)->scope(), request.kind(), request.version());
  if (!record.ok()) return record.status();
  ToMessage(*record, response);
  return absl::OkStatus();
}

absl::Status VerifyModel(Engine* engine, const v1::VerifyModelRequest& request,
                         v1::VerifyModelResponse* response, const CallContext& context) {
  if (auto status = CheckVersion(request.kind(), request.version()); !status.ok()) return status;
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  auto problems = (*collection)->VerifyModel(request.kind(), request.version());
  if (!problems.ok()) return problems.status();
  response->set_intact(problems->empty());
  for (const std::string& problem : *problems) response->add_problems(problem);
  return absl::OkStatus();
}

}  // namespace

void ToMessage(const storage::ModelRecord& record, v1::Model* model) {
  model->set_kind(record.kind());
  model->set_version(record.version());
  model->set_sha256(record.content_sha256());
  model->set_retriever_sha256(record.manifest().retriever_sha256());
  *model->mutable_metrics() = record.manifest().metrics();
  *model->mutable_features() = record.manifest().features();
  SetTimestamp(record.import_time_us(), model->mutable_import_time());
  int64_t bytes = 0;
  for (const auto& file : record.manifest().files()) bytes += file.bytes();
  model->set_bytes(bytes);
}

void RegisterModels(Engine* engine, MethodRegistry* registry) {
  const std::string service = "waymark.v1.ModelService.";
  registry->Add<v1::ListModelsRequest, v1::ListModelsResponse>(
      service + "ListModels", {},
      [engine](const auto& q, auto* r, const CallContext& c) { return ListModels(engine, q, r, c); });
  registry->Add<v1::GetModelRequest, v1::Model>(
      service + "GetModel", {},
      [engine](const auto& q, auto* r, const CallContext& c) { return GetModel(engine, q, r, c); });
  registry->Add<v1::VerifyModelRequest, v1::VerifyModelResponse>(
      service + "VerifyModel", {.lane = Lane::kBulk},
      [engine](const auto& q, auto* r, const CallContext& c) { return VerifyModel(engine, q, r, c); });
}

}  // namespace waymark
