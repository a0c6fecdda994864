// Model packages of a collection: into DATA/models, checked, registered; and releases made of them.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "candidates/item_directory.h"
#include "store/package/model_package.h"
#include "store/store.h"

namespace waymark {

// 1 to 64 letters, digits, '.', '-' or '_', the first one no '.'.
bool IsVersionName(std::string_view name);

// Packages lie in DATA/models/<tenant>-<collection>/<kind>/<version>. Thread-safe through the store.
class ModelRegistry {
 public:
  ModelRegistry(Store* store, Scope scope, const ItemDirectory* items, const Clock* clock)
      : store_(store), scope_(scope), items_(items), clock_(clock) {}

  // Checks the package at `folder` (its files' hashes, and that it loads), copies it beside its final place,
  // fsyncs, renames, registers. Importing an equal package again answers the one that is there.
  // ALREADY_EXISTS: another package has this kind and version.
  absl::StatusOr<storage::ModelRecord> Import(const std::filesystem::path& folder);
  // What differs, file by file; empty: intact. NOT_FOUND.
  absl::StatusOr<std::vector<std::string>> Verify(const std::string& kind, const std::string& version) const;
  absl::StatusOr<ModelPackage> Open(const std::string& kind, const std::string& version) const;

  // Checks that the models exist and belong together (FAILED_PRECONDITION names both retrievers), fills id,
  // plan, hashes and time, and registers it.
  absl::StatusOr<storage::ReleaseRecord> CreateRelease(storage::ReleaseRecord release);

 private:
  Store* store_;
  Scope scope_;
  const ItemDirectory* items_;
  const Clock* clock_;
};

}  // namespace waymark
