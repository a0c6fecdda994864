#include "index/sloppy_places.h"

#include <algorithm>
#include <optional>

namespace waymark {
namespace {

class SloppyPhrase {
 public:
  SloppyPhrase(const std::vector<SloppyWord>& words, size_t* work) : words_(words), work_(*work) {}

  // The least slop, at most `slop`, with which the phrase stands where its first word is at `place`.
  std::optional<int> LeastAt(uint32_t place, int slop) {
    const int64_t begin = int64_t{place} - words_[0].offset;
    if (!AllNear(begin, slop)) return std::nullopt;
    if (!Stands(place, begin, slop)) return std::nullopt;
    int low = 0, high = slop;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (Stands(place, begin, middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return high;
  }

 private:
  // What most places fail by.
  bool AllNear(int64_t begin, int slop) {
    work_ += words_.size();
    return std::all_of(words_.begin(), words_.end(), [&](const SloppyWord& word) {
      const auto at = FirstFrom(word, begin - slop + word.offset);
      return at != word.positions.end() && int64_t{*at} - word.offset <= begin + slop;
    });
  }

  static std::vector<uint32_t>::const_iterator FirstFrom(const SloppyWord& word, int64_t wanted) {
    return std::lower_bound(word.positions.begin(), word.positions.end(), wanted,
                            [](uint32_t position, int64_t from) { return position < from; });
  }

  // Whether some stretch of beginnings, `slop` long and with `begin` in it, has a place for each word.
  bool Stands(uint32_t place, int64_t begin, int slop) {
    for (int64_t low = begin - slop; low <= begin; ++low) {
      if (StandsIn(place, low, low + slop)) return true;
    }
    return false;
  }

  // Words of a term take the first free place each, in the order of the phrase: their stretches are as long
  // as each other, so no other choice succeeds where this one fails.
  bool StandsIn(uint32_t place, int64_t low, int64_t high) {
    taken_.assign(1, place);
    for (size_t w = 1; w < words_.size(); ++w) {
      const SloppyWord& word = words_[w];
      ++work_;
      auto at = FirstFrom(word, low + word.offset);
      while (at != word.positions.end() && IsTaken(w, *at)) ++at;
      if (at == word.positions.end() || int64_t{*at} - word.offset > high) return false;
      taken_.push_back(*at);
    }
    return true;
  }

  bool IsTaken(size_t w, uint32_t position) const {
    for (size_t before = 0; before < w; ++before) {
      if (words_[before].term == words_[w].term && taken_[before] == position) return true;
    }
    return false;
  }

  const std::vector<SloppyWord>& words_;
  size_t& work_;
  std::vector<uint32_t> taken_;  // [word]
};

}  // namespace

float CountSloppyPlaces(std::vector<SloppyWord>* words, int slop, size_t* work) {
  std::stable_sort(words->begin(), words->end(),
                   [](const SloppyWord& a, const SloppyWord& b) { return a.offset < b.offset; });
  SloppyPhrase phrase(*words, work);
  float places = 0;
  for (const uint32_t place : (*words)[0].positions) {
    if (const auto least = phrase.LeastAt(place, slop)) places += 1.0f / static_cast<float>(1 + *least);
  }
  return places;
}

}  // namespace waymark
