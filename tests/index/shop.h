// A collection with a declared schema, and what its queries find.
//
//   Shop shop(kStandard);
//   shop.PutAll({{"a", {{"title", "wi-fi router"}}}});
//   shop.CatchUp();
//   shop.All("wifi");   // {"a"}
#pragma once
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/index/indexed_collection.h"
#include "tests/support/catch.h"

namespace waymark::tests {

using Ids = std::vector<std::string>;

struct Shop : IndexedCollection {
  explicit Shop(const std::string& schema) { DeclareJson(schema); }
  void DeclareJson(const std::string& json) {
    storage::SchemaRecord schema;
    REQUIRE(google::protobuf::util::JsonStringToMessage(json, &schema).ok());
    schema.set_declared(true);
    const absl::Status status = catalog->DeclareSchema(schema);
    INFO(status);
    REQUIRE(status.ok());
  }
  // Sorted.
  Ids All(const std::string& query, bool match_all = false) const {
    Ids ids = Search(query, 100, match_all);
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  KeywordHits Relaxed(const std::string& query, int64_t below, const char* minimum = "") const {
    KeywordQuery asked{.query = query};
    asked.match_all = *minimum == 0;
    asked.minimum = *MinimumMatch::Parse(minimum);
    asked.relax_below = below;
    return Find(asked, 10);
  }
  Ids IdsOf(const KeywordHits& hits) const {
    std::vector<ItemOrdinal> items;
    for (const ScoredItem& hit : hits.items) items.push_back(hit.item);
    return store->ItemIds(scope, items);
  }
};

inline constexpr char kStandard[] =
    R"({"language": "english", "analyzer": "standard", "removeStopWords": true, "fields": [
  {"name": "title", "type": "TEXT", "searchable": true, "title": true}]})";

}  // namespace waymark::tests
