// A collection of random films in a live engine, beside what each of them holds in plain C++: what searches
// over whole collections are held against.
#pragma once
#include <string>
#include <vector>

#include "tests/catalog/random_rows.h"
#include "tests/end_to_end/open_engine.h"

namespace waymark::tests {

struct ShelfItem {
  std::string id;
  Row row;
  std::vector<int> words;  // of its title, each once: "word3"
  bool Holds(int word) const { return std::find(words.begin(), words.end(), word) != words.end(); }
};

class RandomShelf {
 public:
  static constexpr int kWords = 12;
  RandomShelf(int size, uint32_t seed);
  // Puts every third item anew and deletes some; searchable when it returns.
  void Change();
  PipelineResponse Run(const PipelineRequest& request);
  // Item by id; FAILs for an unknown one.
  const ShelfItem& At(const std::string& id) const;

  OpenEngine engine;
  Collection* films = nullptr;
  RandomRows random;
  std::vector<ShelfItem> items;

 private:
  void Put(size_t place, std::vector<Mutation>* writes);
  void Write(std::vector<Mutation> writes);
};

}  // namespace waymark::tests
