// Damage to each file of an index, and the check that proves that it agrees with the store.
#include "tests/support/damage.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "index/index_check.h"
#include "index/index_manifest.h"
#include "tests/index/collection_pair.h"

namespace waymark::tests {
namespace {

namespace fs = std::filesystem;

std::vector<std::pair<std::string, float>> Found(const IndexedCollection& shop) {
  std::vector<std::pair<std::string, float>> found;
  for (const char* query : {"w0", "w1 w5 w9", "\"w0 w1\"", "w2*", "w3 -w0"}) {
    const KeywordHits hits = shop.Find({.query = query}, 20);
    found.emplace_back(query, static_cast<float>(hits.total));
    for (const ScoredItem& hit : hits.items) {
      found.emplace_back(shop.store->ItemId(shop.scope, hit.item), hit.score);
    }
  }
  return found;
}

PartCheck FileCheck(const IndexedCollection& shop) {
  PartCheck check{.part = "index"};
  CheckIndexFiles(shop.store->data_folder(), shop.scope, &check);
  return check;
}

PartCheck FullCheck(const IndexedCollection& shop) {
  PartCheck check{.part = "index"};
  const absl::Status status = shop.index->Check(Deadline::Never(), &check);
  INFO(status);
  REQUIRE(status.ok());
  return check;
}

TEST_CASE("each file of an index with each of 64 flips and cuts: found, put right, never a wrong answer") {
  CollectionPair pair(3);
  IndexedCollection& shop = pair.shop;
  pair.Grow(3);
  const auto expected = Found(shop);
  shop.CloseIndex();
  const fs::path intact = shop.index_folder().string() + ".intact";
  CopyOver(shop.index_folder(), intact);
  CHECK(FileCheck(shop).clean());
  const std::vector<std::string> files = FilesBelow(intact);
  REQUIRE(files.size() > 12);
  const auto manifest = ReadManifest(intact);
  REQUIRE(manifest.ok());
  size_t damages = 0;
  for (const std::string& file : files) {
    const bool compiled = file.find(".postings") != std::string::npos;
    const bool named = std::any_of(manifest->files.begin(), manifest->files.end(),
                                   [&](const IndexedFile& one) { return one.name == file; });
    // Of others, Lucene++'s hint and the commit before, nothing is read.
    if (!named && !compiled && file != kManifestName) continue;
    const auto all = SpreadDamages(fs::file_size(intact / file));
    for (size_t i = 0; i < all.size(); ++i) {
      const Damage& damage = all[i];
      INFO(file << (damage.cut ? " cut at " : " flipped at ") << damage.at);
      CopyOver(intact, shop.index_folder());
      Apply(damage, shop.index_folder() / file);
      REQUIRE_FALSE(FileCheck(shop).clean());
      ++damages;
      if ((i / 2 + i) % 2 != 0) continue;  // opened after a flip at one place, a cut at the next
      shop.OpenIndex();
      const KeywordIndexStatus status = shop.index->status();
      REQUIRE((compiled ? status.recompile_reason : status.rebuild_reason).find(file) != std::string::npos);
      shop.CatchUp();
      REQUIRE(Found(shop) == expected);
      shop.CloseIndex();
      REQUIRE(FileCheck(shop).clean());
    }
  }
  CHECK(damages > 1500);
}

TEST_CASE("a check compares every item with its document, word by word") {
  CollectionPair pair(9);
  pair.Grow(4);
  PartCheck check = FullCheck(pair.shop);
  CHECK(check.clean());
  CHECK(check.items == static_cast<int64_t>(pair.slow.items().size()));
  CHECK(check.position == pair.shop.store->End());
}

TEST_CASE("a document differs by a word, a place or a field") {
  const AnalysisSettings settings{StemmerKind::kNone, false};
  IndexedFields fields;
  fields.fields = {{"title", 2, true}, {"text", 1, false}};
  const auto hash = [&](const TextFields& item) {
    return HashOfItem(FieldAnalyzers(settings, fields), fields, StructOf(item));
  };
  const DocumentHash held = hash({{"title", "star wars"}, {"text", "far away"}});
  CHECK(held == hash({{"title", "Star  Wars"}, {"text", "far, away"}, {"note", "not searched"}}));
  CHECK(held != hash({{"title", "wars star"}, {"text", "far away"}}));
  CHECK(held != hash({{"title", "star wars"}, {"text", "far"}}));
  CHECK(held != hash({{"title", "far away"}, {"text", "star wars"}}));
  CHECK(hash({}) == 0);
}

TEST_CASE("an index that has lost a change is found out, and a rebuild sets it aside and mends it") {
  CollectionPair pair(4);
  IndexedCollection& shop = pair.shop;
  pair.Grow(2);
  const std::string id = shop.store->ItemId(shop.scope, pair.slow.items().begin()->first);
  shop.CloseIndex();
  const fs::path old = shop.index_folder().string() + ".old-commit";
  CopyOver(shop.index_folder(), old);
  // The same place in the log, other words: as if a write had been lost on the way to the index.
  shop.Put(id, {{"title", "something else"}});
  shop.OpenIndex();
  shop.CatchUp();
  shop.CloseIndex();
  auto manifest = ReadManifest(shop.index_folder());
  auto stale = ReadManifest(old);
  REQUIRE((manifest.ok() && stale.ok()));
  stale->position = manifest->position;
  CopyOver(old, shop.index_folder());
  fs::remove_all(old);
  REQUIRE(WriteManifest(shop.index_folder(), *stale).ok());
  CHECK(FileCheck(shop).clean());  // every file is what was written
  shop.OpenIndex();
  const PartCheck check = FullCheck(shop);
  REQUIRE(check.findings_count == 1);
  CHECK(check.findings[0].where == absl::StrCat("item '", id, "'"));
  CHECK(check.findings[0].what == "has other words here than in the store, or none");
  REQUIRE(shop.index->Rebuild("the check found a difference").ok());
  CHECK(FullCheck(shop).clean());
  CHECK(shop.index->status().rebuild_reason == "the check found a difference");
  CHECK(fs::exists(shop.index_folder().string() + ".damaged-1"));
  CHECK(shop.Search("something") == std::vector<std::string>{id});
}

}  // namespace
}  // namespace waymark::tests
