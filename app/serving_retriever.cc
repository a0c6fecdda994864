#include "app/serving_retriever.h"

namespace waymark {

absl::StatusOr<v1::Release> ActiveRelease(const Target& target, Backend* backend) {
  v1::ListReleasesRequest request;
  request.set_parent(Parent(target));
  v1::ListReleasesResponse response;
  auto status = backend->Call("waymark.v1.ReleaseService.ListReleases", request, &response);
  if (!status.ok()) return status;
  for (const v1::Release& release : response.releases()) {
    if (release.active()) return release;
  }
  return v1::Release();
}

absl::StatusOr<std::optional<ModelPackage>> ServingRetriever(const std::string& data_folder,
                                                             const CopiedCollection& data,
                                                             const v1::Release& active) {
  std::optional<storage::ModelRecord> chosen;
  for (const storage::ModelRecord& model : data.store->Models(data.scope)) {
    if (model.kind() != "retriever") continue;
    if (model.version() == active.retriever_version()) {
      chosen = model;
      break;
    }
    if (!chosen || model.import_time_us() > chosen->import_time_us()) chosen = model;
  }
  if (!chosen) return std::nullopt;
  auto package = OpenModelPackage(std::filesystem::path(data_folder) / chosen->folder());
  if (!package.ok()) return package.status();
  return *std::move(package);
}

}  // namespace waymark
