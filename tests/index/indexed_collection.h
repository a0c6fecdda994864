// A store, catalogue and keyword index in a folder of their own, for tests.
//
//   IndexedCollection shop;
//   shop.Declare({{"title", 2}, {"text", 1}});
//   shop.Put("m1", {{"title", "Star Wars"}});
//   shop.CatchUp();
//   shop.Search("star");   // items
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catalog/catalog.h"
#include "index/keyword_index.h"
#include "store/store.h"

namespace waymark::tests {

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

using TextFields = std::map<std::string, std::string>;  // field -> text

class IndexedCollection {
 public:
  // `data`: null: a temporary folder.
  explicit IndexedCollection(const std::filesystem::path* data = nullptr,
                             const std::string& collection = "default",
                             KeywordIndexOptions options = {.refresh_interval = absl::ZeroDuration()});
  // Another collection of the same store, which outlives it.
  IndexedCollection(IndexedCollection* other, const std::string& collection);
  ~IndexedCollection();

  // Fields are text, searched, with these weights; the first is the title. Words are taken as they are: no
  // stemmer, no stop words, unless `english`.
  void Declare(const std::vector<std::pair<std::string, double>>& fields, bool english = false);
  void Put(const std::string& id, const TextFields& fields);
  void PutAll(const std::vector<std::pair<std::string, TextFields>>& items);
  void Write(std::vector<Mutation> mutations);
  void Delete(const std::string& id);
  void CatchUp();
  ItemOrdinal Item(const std::string& id) const;
  KeywordHits Find(const KeywordQuery& query, size_t limit = 10) const;
  // Ids of the best hits.
  std::vector<std::string> Search(const std::string& query, size_t limit = 10, bool match_all = false) const;
  // The signals of one item.
  SignalValues Signals(const std::string& query, const std::string& id) const;
  // Closes and opens the index, as a restart does.
  void Reopen();
  void CloseIndex() { index.reset(); }
  void OpenIndex();
  std::filesystem::path index_folder() const;

  KeywordIndexOptions options;
  std::unique_ptr<TempFolder> temporary;
  std::unique_ptr<Store> own_store;
  Store* store = nullptr;
  Scope scope;
  std::unique_ptr<Catalog> catalog;
  std::unique_ptr<KeywordIndex> index;

 private:
  void OpenCollection(const std::string& collection);
};

google::protobuf::Struct StructOf(const TextFields& fields);

}  // namespace waymark::tests
