// Where the words of a phrase stand when they may be moved: "two words"~3.
//
// Each word of the phrase has a place p in the text and an offset o in the phrase; p - o is where the phrase
// begins by that word. The words stand so when they have places of their own whose beginnings differ by at
// most the slop (as Lucene's phrase queries have it): "a b" stands in «a x b» with slop 1 and in «b a» with
// slop 2. What it counts for:
//
//   sum over the places of the phrase's first word of  1 / (1 + the least slop with which the phrase stands
//   there)
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace waymark {

struct SloppyWord {
  uint32_t term = 0, offset = 0;    // words of the same term never share a place
  std::vector<uint32_t> positions;  // ascending, in one field of one document
};

// `words` are put in the order of the phrase. `work` grows by about the places looked at.
float CountSloppyPlaces(std::vector<SloppyWord>* words, int slop, size_t* work);

}  // namespace waymark
