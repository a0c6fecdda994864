// Documents of a few words "w0", "w1", ... in fields "f0", "f1", ..., each known word by word, beside the
// snapshot that holds them: for tests that compare searches with brute force.
//
//   RandomCorpus corpus(seed);
//   corpus.segments[0][3].fields[1];   // the words of a field, as numbers
//   SearchSnapshot(*corpus.snapshot, ...);
#pragma once
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "index/index_snapshot.h"

namespace waymark::tests {

using Words = std::vector<int>;  // "w7" is 7

struct RandomDocument {
  ItemOrdinal item;
  std::vector<Words> fields;
  bool deleted = false;
  uint64_t holds = 0;  // a bit a word
};

// Some hundred documents in several segments, some of them deleted.
struct RandomCorpus {
  std::mt19937 random;
  std::vector<std::vector<RandomDocument>> segments;
  std::shared_ptr<const IndexSnapshot> snapshot;
  unsigned words;

  explicit RandomCorpus(unsigned seed);

  // Skewed, so that some words are in nearly all documents and some in few.
  int Word() { return static_cast<int>(random() % words * (random() % words) / words); }
  std::string Text() { return absl::StrCat("w", Word()); }
};

}  // namespace waymark::tests
