#include "tests/index/indexed_collection.h"

#include <unistd.h>

#include "index/index_folder.h"
#include "tests/support/catch.h"

namespace waymark::tests {

TempFolder::TempFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "waymark-index-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

google::protobuf::Struct StructOf(const TextFields& fields) {
  google::protobuf::Struct made;
  for (const auto& [name, text] : fields) (*made.mutable_fields())[name].set_string_value(text);
  return made;
}

IndexedCollection::IndexedCollection(const std::filesystem::path* data, const std::string& collection,
                                     KeywordIndexOptions given)
    : options(given) {
  if (data == nullptr) {
    temporary = std::make_unique<TempFolder>();
    data = &temporary->path();
  }
  auto opened = Store::Open(*data, {});
  INFO(opened.status());
  REQUIRE(opened.ok());
  own_store = *std::move(opened);
  store = own_store.get();
  OpenCollection(collection);
}

IndexedCollection::IndexedCollection(IndexedCollection* other, const std::string& collection)
    : options(other->options), store(other->store) {
  OpenCollection(collection);
}

IndexedCollection::~IndexedCollection() = default;

void IndexedCollection::OpenCollection(const std::string& collection) {
  auto made = store->CreateCollection({"default", collection});
  INFO(made.status());
  REQUIRE(made.ok());
  scope = *made;
  auto opened = Catalog::Open(store, scope);
  INFO(opened.status());
  REQUIRE(opened.ok());
  catalog = *std::move(opened);
  // Of two collections that share a store, both live until the last write.
  store->AddListener([this](Scope of, absl::Span<const Change> changes) {
    if (of == scope) catalog->Apply(changes);
  });
  OpenIndex();
}

void IndexedCollection::OpenIndex() {
  auto opened = KeywordIndex::Open(store, scope, catalog.get(), options);
  INFO(opened.status());
  REQUIRE(opened.ok());
  index = *std::move(opened);
}

void IndexedCollection::Reopen() {
  CloseIndex();
  OpenIndex();
}

std::filesystem::path IndexedCollection::index_folder() const {
  return IndexFolder(store->data_folder(), scope);
}

void IndexedCollection::Declare(const std::vector<std::pair<std::string, double>>& fields, bool english) {
  storage::SchemaRecord schema;
  schema.set_declared(true);
  schema.set_language(english ? "english" : "none");
  schema.set_stemmer(english ? "porter" : "none");
  schema.set_remove_stop_words(english);
  for (const auto& [name, weight] : fields) {
    storage::FieldRecord* field = schema.add_fields();
    field->set_name(name);
    field->set_type(storage::FieldRecord::TEXT);
    field->set_searchable(true);
    field->set_search_weight(weight);
    field->set_title(schema.fields_size() == 1);
  }
  const absl::Status status = catalog->DeclareSchema(schema);
  INFO(status);
  REQUIRE(status.ok());
}

void IndexedCollection::Write(std::vector<Mutation> mutations) {
  auto receipt = store->Write(scope, std::move(mutations));
  INFO(receipt.status());
  REQUIRE(receipt.ok());
  for (const MutationResult& result : receipt->results) {
    INFO(result.status);
    REQUIRE(result.status.ok());
  }
}

void IndexedCollection::Put(const std::string& id, const TextFields& fields) {
  Write({PutItem{id, StructOf(fields)}});
}

void IndexedCollection::PutAll(const std::vector<std::pair<std::string, TextFields>>& items) {
  std::vector<Mutation> batch;
  for (const auto& [id, fields] : items) {
    batch.push_back(PutItem{id, StructOf(fields)});
    if (batch.size() == 1000) Write(std::exchange(batch, {}));
  }
  if (!batch.empty()) Write(std::move(batch));
}

void IndexedCollection::Delete(const std::string& id) { Write({DeleteItem{id}}); }

void IndexedCollection::CatchUp() {
  const absl::Status status = index->CatchUp(absl::Now() + absl::Seconds(120));
  INFO(status);
  REQUIRE(status.ok());
}

ItemOrdinal IndexedCollection::Item(const std::string& id) const {
  auto item = store->FindItem(scope, id);
  INFO(id);
  REQUIRE(item.has_value());
  return *item;
}

KeywordHits IndexedCollection::Find(const KeywordQuery& query, size_t limit) const {
  auto hits = index->Search(query, limit, Deadline::Never());
  INFO(hits.status());
  REQUIRE(hits.ok());
  return *std::move(hits);
}

std::vector<std::string> IndexedCollection::Search(const std::string& query, size_t limit,
                                                   bool match_all) const {
  std::vector<ItemOrdinal> items;
  for (const ScoredItem& hit : Find({.query = query, .match_all = match_all}, limit).items) {
    items.push_back(hit.item);
  }
  return store->ItemIds(scope, items);
}

SignalValues IndexedCollection::Signals(const std::string& query, const std::string& id) const {
  std::vector<Candidate> candidates(1);
  candidates[0].item = Item(id);
  index->Fill(query, absl::MakeSpan(candidates));
  return candidates[0].signals;
}

}  // namespace waymark::tests
