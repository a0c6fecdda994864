#include "index/typo_automaton.h"

#include <bit>

namespace waymark {

TypoAutomaton::TypoAutomaton(std::u32string_view word, int max_edits)
    : word_(word), max_edits_(max_edits), mask_((uint64_t{2} << word.size()) - 1) {
  for (size_t i = 0; i < word_.size(); ++i) {
    if (word_[i] < ascii_.size()) ascii_[word_[i]] |= uint64_t{1} << i;
  }
}

uint64_t TypoAutomaton::Places(char32_t letter) const {
  if (letter < ascii_.size()) return ascii_[letter];
  uint64_t places = 0;
  for (size_t i = 0; i < word_.size(); ++i) places |= uint64_t{word_[i] == letter} << i;
  return places;
}

TypoAutomaton::Path TypoAutomaton::Start() const {
  Path path;
  for (int e = 0; e <= max_edits_; ++e) path.state[e] = ((uint64_t{2} << e) - 1) & mask_;
  return path;
}

TypoAutomaton::Path TypoAutomaton::Step(const Path& path, char32_t letter) const {
  const uint64_t here = Places(letter), turned = here & (Places(path.last) >> 1);
  Path next;
  next.before = path.state;
  next.last = letter;
  next.state[0] = (path.state[0] & here) << 1 & mask_;
  for (int e = 1; e <= max_edits_; ++e) {
    const uint64_t kept = (path.state[e] & here) << 1;
    const uint64_t added = path.state[e - 1], replaced = path.state[e - 1] << 1;
    const uint64_t left_out = next.state[e - 1] << 1;
    const uint64_t exchanged = (path.before[e - 1] & turned) << 2;
    next.state[e] = (kept | added | replaced | left_out | exchanged) & mask_;
  }
  return next;
}

std::optional<char32_t> TypoAutomaton::NextLetter(const Path& path, char32_t from) const {
  for (int e = 0; e < max_edits_; ++e) {
    if (path.state[e] != 0) return from;  // an edit is left: any letter will do
  }
  uint64_t places = path.state[max_edits_] | (path.before[max_edits_ - 1] & (Places(path.last) >> 1));
  places &= mask_ >> 1;  // behind the last letter only edits lead on
  std::optional<char32_t> least;
  for (; places != 0; places &= places - 1) {
    const char32_t letter = word_[static_cast<size_t>(std::countr_zero(places))];
    if (letter >= from && (!least || letter < *least)) least = letter;
  }
  return least;
}

int TypoAutomaton::Edits(const State& state) const {
  const uint64_t whole = uint64_t{1} << word_.size();
  for (int e = 0; e <= max_edits_; ++e) {
    if (state[e] & whole) return e;
  }
  return kMaxEdits + 1;
}

}  // namespace waymark
