// Readers beside a writer: run under the thread sanitizer to say more than that nothing crashes.
#include <atomic>
#include <cmath>
#include <random>
#include <thread>

#include "recommend/behaviour_counts.h"
#include "recommend/vector_index.h"
#include "tests/recommend/contexts.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using tests::ContextOf;

TEST_CASE("counts are read while they are added to") {
  BehaviourCounts counts({.neighbours = 16});
  std::atomic<bool> done = false;
  std::atomic<bool> sound = true;
  std::vector<std::thread> readers;
  for (unsigned r = 0; r < 3; ++r) {
    readers.emplace_back([&, r] {
      std::mt19937 random(r);
      while (!done) {
        const RequestContext context =
            ContextOf({static_cast<ItemOrdinal>(random() % 100), static_cast<ItemOrdinal>(random() % 100)});
        for (const ScoredItem& item : counts.CoVisited(context, 20))
          sound = sound && std::isfinite(item.score);
        for (const ScoredItem& item : counts.Popular(context, 20)) sound = sound && std::isfinite(item.score);
        for (const ScoredItem& item : counts.Transitions(context, 20)) sound = sound && item.score <= 2;
        std::vector<Candidate> candidates(5);
        for (ItemOrdinal i = 0; i < 5; ++i) candidates[i].item = i * 7;
        counts.Fill(context, absl::MakeSpan(candidates));
      }
    });
  }
  std::mt19937 random(99);
  std::vector<ItemOrdinal> history;
  for (int i = 0; i < 20000; ++i) {
    const ItemOrdinal item = random() % 100;
    counts.Add(history, item, absl::FromUnixSeconds(i));
    history.push_back(item);
    if (history.size() > 10) history.erase(history.begin());
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(sound);
  CHECK(counts.event_count() == 20000);
}

TEST_CASE("vectors are searched while they are added, removed, sealed and merged") {
  auto created = VectorIndex::Create({.width = 8, .tail_limit = 300, .flat_segment_limit = 500});
  REQUIRE(created.ok());
  VectorIndex& index = **created;
  const auto vector = [](ItemOrdinal item, int version) {
    std::vector<float> v(8);
    for (size_t d = 0; d < 8; ++d)
      v[d] = static_cast<float>(std::sin(item * 1.3 + static_cast<double>(d) + version)) / 3;
    return v;
  };
  std::atomic<bool> done = false;
  std::atomic<bool> sound = true;
  std::vector<std::thread> threads;
  for (unsigned r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      ItemOrdinal at = r;
      while (!done) {
        auto found = index.Search(vector(++at % 2000, 0), 50, nullptr, {}, Deadline::Never());
        std::vector<ItemOrdinal> items;
        for (const ScoredItem& item : *found) items.push_back(item.item);
        std::sort(items.begin(), items.end());
        // However the parts move, an item is there once.
        sound = sound && std::adjacent_find(items.begin(), items.end()) == items.end();
        std::vector<float> out(items.size() * 8);
        index.ReadVectors(items, absl::MakeSpan(out));
      }
    });
  }
  threads.emplace_back([&] {
    while (!done) sound = sound && index.Maintain().ok();
  });
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    const ItemOrdinal item = random() % 2000;
    if (i % 5 == 0) {
      index.Remove(std::vector<ItemOrdinal>{item});
    } else if (!index.Add(std::vector<ItemOrdinal>{item}, vector(item, i)).ok()) {
      sound = false;
    }
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(sound);
  auto all = index.Search(vector(1, 0), 5000, nullptr, {}, Deadline::Never());
  REQUIRE(all.ok());
  CHECK(all->size() >= index.size() * 99 / 100);  // a graph may miss a few
}

}  // namespace
}  // namespace waymark
