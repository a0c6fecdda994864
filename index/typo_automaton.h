// Which words are at most a few edits from a given one, letter by letter: a Levenshtein automaton that takes
// two neighbouring letters changing places as one edit (optimal string alignment: no letter is edited twice).
// Its states are sets of (letters of the word done, edits), a bit each (Wu and Manber, "Fast text searching
// allowing errors", CACM 1992).
//
//   TypoAutomaton automaton(U"recieve", 1);
//   TypoAutomaton::Path path = automaton.Start();
//   for (char32_t letter : U"receive") path = automaton.Step(path, letter);
//   automaton.Edits(path.state);   // 1
//
// Immutable; thread-safe.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace waymark {

class TypoAutomaton {
 public:
  static constexpr size_t kMaxLetters = 63;
  static constexpr int kMaxEdits = 2;

  // word: 1 to kMaxLetters code points. max_edits: 1 to kMaxEdits.
  TypoAutomaton(std::u32string_view word, int max_edits);

  // [edits]: bit i: the letters so far are the word's first i letters with that many edits.
  using State = std::array<uint64_t, kMaxEdits + 1>;
  // Two letters that change places are known with the second one, from the state before the first.
  struct Path {
    State state{}, before{};
    char32_t last = 0;
  };
  Path Start() const;
  Path Step(const Path& path, char32_t letter) const;
  // The least letter, `from` or behind it, after which the path can still come to a match; none: it cannot.
  std::optional<char32_t> NextLetter(const Path& path, char32_t from) const;
  // Of the letters so far, as a whole word; above kMaxEdits: no match.
  int Edits(const State& state) const;

 private:
  uint64_t Places(char32_t letter) const;  // bit i: the word's letter i is this one

  const std::u32string word_;
  const int max_edits_;
  const uint64_t mask_;
  std::array<uint64_t, 128> ascii_{};
};

}  // namespace waymark
