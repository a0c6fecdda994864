// A still copy of a data folder's store, for training and evaluation: the folder, or the server that has it
// open, goes on meanwhile. Made of hard links, so it costs little.
//
//   auto copy = DataCopy::Make(backend, "data");
//   auto store = Store::Open((*copy)->folder(), {.create = false, .read_only = true});
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "app/backend.h"
#include "catalog/catalog.h"
#include "index/keyword_index.h"
#include "store/store.h"

namespace waymark {

class DataCopy {
 public:
  // INVALID_ARGUMENT: no folder, but a server elsewhere.
  static absl::StatusOr<std::unique_ptr<DataCopy>> Make(Backend* backend, const std::string& data);
  // Removes the copy.
  ~DataCopy();
  DataCopy(const DataCopy&) = delete;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  explicit DataCopy(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

// A collection of such a copy, with what can be derived from it.
struct CopiedCollection {
  std::unique_ptr<DataCopy> copy;
  std::unique_ptr<Store> store;
  Scope scope;
  std::unique_ptr<Catalog> catalog;
  std::unique_ptr<KeywordIndex> index;
};
absl::StatusOr<CopiedCollection> CopyCollection(Backend* backend, const std::string& data,
                                                const CollectionName& name);

}  // namespace waymark
