// A collection under test with its brute-force copy.
#pragma once
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/index/indexed_collection.h"
#include "tests/index/slow_index.h"

namespace waymark::tests {

inline std::string RandomText(std::mt19937* random, int words) {
  std::string text;
  for (int i = 0; i < words; ++i) {
    // Skewed, so that some words are in nearly all documents and some in few.
    const unsigned pick = (*random)() % 100 * ((*random)() % 100) / 250;
    text += absl::StrCat((i ? " w" : "w"), pick);
  }
  return text;
}

// A collection and its slow copy, through several rounds of writes that each end in a segment.
struct CollectionPair {
  IndexedCollection shop;
  SlowIndex slow{{2, 1}};
  std::mt19937 random;

  explicit CollectionPair(unsigned seed) : random(seed) { shop.Declare({{"title", 2}, {"text", 1}}); }
  void Grow(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::pair<std::string, TextFields>> items;
      for (int i = 0; i < 60; ++i) {
        items.push_back({absl::StrCat("i", random() % 300),
                         {{"title", RandomText(&random, 1 + random() % 4)},
                          {"text", RandomText(&random, random() % 30)}}});
      }
      shop.PutAll(items);
      for (const auto& [id, fields] : items) {
        slow.PutPlain(shop.Item(id), {fields.at("title"), fields.at("text")});
      }
      for (int i = 0; i < 12; ++i) {
        const std::string id = items[random() % items.size()].first;
        if (slow.items().contains(shop.Item(id))) shop.Delete(id);
        slow.Delete(shop.Item(id));
      }
      shop.CatchUp();
    }
  }
  std::string Word() { return absl::StrCat("w", random() % 42); }
};

}  // namespace waymark::tests
