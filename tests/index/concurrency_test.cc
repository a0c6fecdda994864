// Searches beside the writer. Small, so that it is of use under the thread sanitizer.
#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/index/indexed_collection.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

TEST_CASE("searches beside indexing see whole snapshots") {
  KeywordIndexOptions options;
  options.refresh_interval = absl::Milliseconds(5);
  IndexedCollection shop(nullptr, "default", options);
  shop.Declare({{"title", 1}, {"text", 1}});
  // Every item holds exactly one of "even" and "odd", whichever version of it a search sees.
  const auto put = [&](int item, int version) {
    const bool even = (item + version) % 2 == 0;
    shop.Put(absl::StrCat("i", item),
             {{"title", even ? "even star" : "odd star"}, {"text", absl::StrCat("version ", version)}});
  };
  for (int i = 0; i < 40; ++i) put(i, 0);
  shop.CatchUp();

  std::atomic<bool> stop = false;
  std::atomic<int> searches = 0, wrong = 0;
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      std::vector<Candidate> candidates(5);
      for (int i = 0; i < 5; ++i) candidates[i].item = static_cast<ItemOrdinal>(i);
      while (!stop) {
        const auto both = shop.index->Search({.query = "even AND odd"}, 10, Deadline::Never());
        const auto any = shop.index->Search({.query = "even odd"}, 100, Deadline::Never());
        const auto phrase =
            shop.index->Search({.query = "\"even star\" OR \"odd star\""}, 100, Deadline::Never());
        shop.index->Fill("even odd star", absl::MakeSpan(candidates));
        wrong += !both.ok() || both->total != 0;
        wrong += !any.ok() || any->total != 40;
        wrong += !phrase.ok() || phrase->total != 40;
        ++searches;
      }
    });
  }
  std::thread committer([&] {
    while (!stop) {
      if (!shop.index->Commit().ok()) ++wrong;
      absl::SleepFor(absl::Milliseconds(20));
    }
  });
  for (int version = 1; version <= 6; ++version) {
    for (int i = 0; i < 40; ++i) put(i, version);
    shop.CatchUp();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  committer.join();
  CHECK(wrong == 0);
  CHECK(searches > 0);
  CHECK(shop.Find({.query = "version 6", .match_all = true}, 100).total == 40);
}

TEST_CASE("two collections index at the same time") {
  KeywordIndexOptions options;
  options.refresh_interval = absl::Milliseconds(1);
  IndexedCollection one(nullptr, "default", options), two(nullptr, "default", options);
  for (IndexedCollection* shop : {&one, &two}) shop->Declare({{"title", 1}}, /*english=*/true);
  for (int round = 0; round < 30; ++round) {
    for (IndexedCollection* shop : {&one, &two}) {
      for (int i = 0; i < 4; ++i) {
        shop->Put(absl::StrCat("i", (round * 4 + i) % 100),
                  {{"title", absl::StrCat("stars of round ", round)}});
      }
    }
    if (round % 10 == 9) REQUIRE((one.index->Commit().ok() && two.index->Commit().ok()));
  }
  for (IndexedCollection* shop : {&one, &two}) {
    shop->CatchUp();
    CHECK(shop->Find({.query = "star"}).total == 100);
    CHECK(shop->Find({.query = "29"}).total == 4);
  }
}

TEST_CASE("the refresh thread makes writes searchable by itself") {
  KeywordIndexOptions options;
  options.refresh_interval = absl::Milliseconds(10);
  IndexedCollection shop(nullptr, "default", options);
  shop.Declare({{"title", 1}});
  shop.Put("1", {{"title", "star wars"}});
  const LogOffset written = shop.store->End();
  const absl::Time until = absl::Now() + absl::Seconds(20);
  while (shop.index->position() < written && absl::Now() < until) absl::SleepFor(absl::Milliseconds(5));
  CHECK(shop.index->position() >= written);
  CHECK(shop.Find({.query = "star"}).total == 1);
}

}  // namespace
}  // namespace waymark::tests
