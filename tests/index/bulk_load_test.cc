// Loads on several threads: the index is the one that a thread by itself makes, and survives what that one
// does.
#include <filesystem>
#include <random>

#include "absl/strings/str_cat.h"
#include "index/index_check.h"
#include "index/index_folder.h"
#include "index/index_maintainer.h"
#include "index/index_manifest.h"
#include "index/snapshot_search.h"
#include "tests/index/collection_pair.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

namespace fs = std::filesystem;
using Answer = std::vector<std::pair<ItemOrdinal, float>>;

// An index of its own over the collection's store, filled on three threads.
struct BulkIndex {
  const IndexedCollection& shop;
  TempFolder folder;
  std::shared_ptr<const IndexSnapshot> snapshot;
  std::unique_ptr<IndexMaintainer> maintainer;
  std::atomic<bool> stop = false;

  explicit BulkIndex(const IndexedCollection& of) : shop(of) { Open(); }
  void Open() {
    maintainer = std::make_unique<IndexMaintainer>(
        shop.store, shop.scope, folder.path() / "index", Bm25Options(),
        [this](std::shared_ptr<const IndexSnapshot> fresh) { snapshot = std::move(fresh); },
        BulkOptions{.threads = 3, .changes = 20});
    REQUIRE(maintainer->Open().ok());
    maintainer->Use(shop.catalog.get());
  }
  void Advance() {
    const absl::Status status = maintainer->Advance(stop);
    INFO(status);
    REQUIRE(status.ok());
  }
  std::vector<std::string> Beside() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
};

Answer AnswerOf(const KeywordHits& hits) {
  Answer answer;
  for (const ScoredItem& hit : hits.items) answer.emplace_back(hit.item, hit.score);
  return answer;
}

// The same items with the same scores as the collection's own index, and every document as the store has it.
void CheckSame(CollectionPair* pair, const BulkIndex& bulk) {
  pair->shop.CatchUp();
  REQUIRE(bulk.snapshot->position == pair->shop.index->position());
  for (int i = 0; i < 40; ++i) {
    const std::string text = absl::StrCat(pair->Word(), " ", pair->Word(), " +", pair->Word());
    SnapshotQuery query{text};
    const KeywordHits found = SearchSnapshot(*bulk.snapshot, query, Bm25Options(), 1000, Deadline::Never());
    const KeywordHits expected = pair->shop.Find({.query = text}, 1000);
    INFO(text);
    REQUIRE(found.total == expected.total);
    REQUIRE(AnswerOf(found) == AnswerOf(expected));
  }
  PartCheck check;
  const auto refresh = [&]() -> absl::StatusOr<std::shared_ptr<const IndexSnapshot>> {
    return bulk.snapshot;
  };
  REQUIRE(CheckDocuments(*pair->shop.store, pair->shop.scope, refresh, Deadline::Never(), &check).ok());
  CHECK(check.clean());
}

TEST_CASE("an index that several threads fill from a store is the one that a thread by itself makes") {
  CollectionPair pair(3);
  pair.Grow(6);
  BulkIndex bulk(pair.shop);
  bulk.Advance();
  CHECK(bulk.snapshot->segments.size() == 3);
  CheckSame(&pair, bulk);
  CHECK(bulk.Beside() == std::vector<std::string>{"index"});
  bulk.Open();  // as a restart does: it was committed
  CHECK(bulk.maintainer->rebuild_reason().empty());
  CheckSame(&pair, bulk);
}

TEST_CASE("changes that several threads take in replace and delete what the index had") {
  CollectionPair pair(4);
  pair.Grow(2);
  BulkIndex bulk(pair.shop);
  bulk.Advance();
  for (int round = 0; round < 6; ++round) {
    pair.Grow(1 + round % 2);
    bulk.Advance();
    CheckSame(&pair, bulk);
    if (round % 2 == 0) REQUIRE(bulk.maintainer->Commit().ok());
  }
  // By one thread again: a change that is not worth more.
  pair.shop.Put("i1", {{"title", "w1 w2"}});
  pair.shop.Put("i2", {{"title", "w1 w3"}});
  pair.shop.Delete("i2");
  bulk.Advance();
  CheckSame(&pair, bulk);
  bulk.Open();
  bulk.Advance();
  CHECK(bulk.maintainer->rebuild_reason().empty());
  CheckSame(&pair, bulk);
}

TEST_CASE("what a crash leaves of a bulk load goes, and the load is done again") {
  CollectionPair pair(5);
  pair.Grow(2);
  BulkIndex bulk(pair.shop);
  bulk.Advance();
  bulk.maintainer.reset();
  fs::create_directories(PartFolder(bulk.folder.path() / "index", 0));
  fs::create_directories(PartFolder(BuildingFolder(bulk.folder.path() / "index"), 1));
  pair.Grow(1);
  bulk.Open();
  CHECK(bulk.Beside() == std::vector<std::string>{"index"});
  bulk.Advance();
  CheckSame(&pair, bulk);

  // Before its manifest was written.
  const fs::path manifest = bulk.folder.path() / "index" / kManifestName,
                 kept = bulk.folder.path() / "manifest";
  fs::copy_file(manifest, kept);
  pair.Grow(1);
  bulk.Advance();
  bulk.maintainer.reset();
  fs::rename(kept, manifest);
  bulk.snapshot = nullptr;
  bulk.Open();
  CHECK(bulk.maintainer->rebuild_reason().empty());
  CHECK(bulk.snapshot->position < pair.shop.store->End());
  bulk.Advance();
  CheckSame(&pair, bulk);
}

TEST_CASE("a rebuild on several threads takes the index's place") {
  CollectionPair pair(7);
  pair.Grow(3);
  BulkIndex bulk(pair.shop);
  bulk.Advance();
  REQUIRE(bulk.maintainer->RebuildAside("asked for", bulk.stop).ok());
  CheckSame(&pair, bulk);
  CHECK(bulk.snapshot->segments.size() == 3);
}

}  // namespace
}  // namespace waymark::tests
