// A collection in a folder of its own with a catalog fed by the store's listener, the way the pipeline wires
// it: the schema grows before the items that it grows by are written.
#pragma once
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include "catalog/catalog.h"
#include "tests/catalog/items.h"

namespace waymark::tests {

class Folder {
 public:
  Folder() {
    static std::atomic<int> count{0};
    path_ = std::filesystem::temp_directory_path() /
            ("waymark-catalog-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    std::filesystem::remove_all(path_);
  }
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class Shop {
 public:
  explicit Shop(const std::filesystem::path& folder, const Clock* clock = Clock::Real()) {
    StoreOptions options;
    options.clock = clock;
    auto opened = Store::Open(folder, options);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    store = *std::move(opened);
    const auto created = store->CreateCollection({});
    REQUIRE(created.ok());
    scope = *created;
    OpenCatalog();
    store->AddListener([this](Scope written, absl::Span<const Change> changes) {
      if (written == scope && catalog && feed) catalog->Apply(changes);
    });
  }
  void OpenCatalog() {
    catalog.reset();
    auto loaded = Catalog::Open(store.get(), scope);
    INFO(loaded.status().ToString());
    REQUIRE(loaded.ok());
    catalog = *std::move(loaded);
  }

  void Grow(const google::protobuf::Struct& fields) {
    bool changed = false;
    Schema extended = catalog->schema()->ExtendedBy(fields, &changed);
    if (!changed) return;
    auto collection = store->GetCollection(scope);
    REQUIRE(collection.ok());
    *collection->mutable_item_schema() = extended.record();
    REQUIRE(store->PutCollection(scope, *collection).ok());
    REQUIRE(catalog->AdoptSchema(std::make_shared<const Schema>(std::move(extended))).ok());
  }
  void Put(const std::string& id, const std::string& json) { PutAll({{id, Fields(json)}}); }
  void PutAll(std::vector<PutItem> items) {
    std::vector<Mutation> mutations;
    for (PutItem& item : items) {
      Grow(item.fields);
      mutations.push_back(std::move(item));
    }
    Write(std::move(mutations));
  }
  void Write(std::vector<Mutation> mutations) {
    const auto receipt = store->Write(scope, std::move(mutations));
    INFO(receipt.status().ToString());
    REQUIRE(receipt.ok());
    for (const MutationResult& result : receipt->results) {
      INFO(result.status.ToString());
      REQUIRE(result.status.ok());
    }
  }

  ItemOrdinal Ordinal(const std::string& id) const { return store->FindItem(scope, id).value_or(kNoItem); }
  // Ids, in the order of ordinals.
  std::vector<std::string> Passing(const std::string& filter) const {
    const auto compiled = catalog->CompileFilter(filter);
    INFO(filter << ": " << compiled.status().ToString());
    REQUIRE(compiled.ok());
    return store->ItemIds(scope, catalog->Evaluate(**compiled)->ToVector());
  }

  std::unique_ptr<Store> store;
  Scope scope;
  std::unique_ptr<Catalog> catalog;
  bool feed = true;  // false: changes only reach the log, as before a crash
};

}  // namespace waymark::tests
