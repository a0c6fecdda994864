#include "app/data_copy.h"

#include <system_error>

#include "absl/strings/str_cat.h"
#include "waymark/v1/admin.pb.h"

namespace waymark {

absl::StatusOr<std::unique_ptr<DataCopy>> DataCopy::Make(Backend* backend, const std::string& data) {
  if (data.empty()) {
    return absl::InvalidArgumentError(
        "this reads the data folder itself: say --data DIR on the machine that has it");
  }
  v1::CreateCheckpointResponse made;
  auto status =
      backend->Call("waymark.v1.AdminService.CreateCheckpoint", v1::CreateCheckpointRequest(), &made);
  if (!status.ok()) return status;
  return std::unique_ptr<DataCopy>(new DataCopy(std::filesystem::path(data) / made.path()));
}

DataCopy::~DataCopy() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

absl::StatusOr<CopiedCollection> CopyCollection(Backend* backend, const std::string& data,
                                                const CollectionName& name) {
  CopiedCollection made;
  auto copy = DataCopy::Make(backend, data);
  if (!copy.ok()) return copy.status();
  made.copy = *std::move(copy);
  StoreOptions options;
  options.create = false;
  options.read_only = true;
  auto store = Store::Open(made.copy->folder(), options);
  if (!store.ok()) return store.status();
  made.store = *std::move(store);
  auto scope = made.store->FindCollection(name);
  if (!scope.ok()) return scope.status();
  made.scope = *scope;
  auto catalog = Catalog::Open(made.store.get(), made.scope);
  if (!catalog.ok()) return catalog.status();
  made.catalog = *std::move(catalog);
  KeywordIndexOptions index_options;
  index_options.refresh_interval = absl::ZeroDuration();
  auto index = KeywordIndex::Open(made.store.get(), made.scope, made.catalog.get(), index_options);
  if (!index.ok()) return index.status();
  made.index = *std::move(index);
  if (auto status = made.index->CatchUp(absl::InfiniteFuture()); !status.ok()) return status;
  return made;
}

}  // namespace waymark
