#include "suggest/typo_ranges.h"

#include <algorithm>
#include <optional>

#include "index/letters.h"
#include "index/typo_automaton.h"

namespace waymark {
namespace {

class Walk {
 public:
  Walk(const CompletionList& list, const TypoAutomaton& automaton, size_t max_looks)
      : list_(list), automaton_(automaton), looks_left_(max_looks), steps_{{automaton.Start(), 0}} {}

  TypoRanges Run(CompletionRange within) {
    TypoRanges found;
    end_ = within.end;
    for (size_t at = within.begin; at < end_;) {
      if (looks_left_ == 0) {
        found.complete = false;
        return found;
      }
      at = Follow(at, &found.ranges);
    }
    return found;
  }

 private:
  struct Step {
    TypoAutomaton::Path path;
    size_t end;  // bytes of prefix_ that led here
  };

  std::string_view Look(size_t i) {
    looks_left_ -= looks_left_ > 0;
    return list_.beginning(i);
  }

  // The first beginning from `from` on of which `before` does not hold; it holds of those before that.
  template <class Before>
  size_t Gallop(size_t from, Before before) {
    size_t low = from, step = 1;
    while (low < end_ && step < end_ - low && before(Look(low + step - 1))) {
      low += step;
      step *= 2;
    }
    size_t high = step < end_ - low ? low + step - 1 : end_;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (before(Look(middle))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  size_t PassPrefix(size_t from) {
    return Gallop(from, [this](std::string_view text) { return text.substr(0, prefix_.size()) <= prefix_; });
  }

  // Takes the path along the beginning at `at`, from where it leaves the one before; answers where to go on.
  size_t Follow(size_t at, std::vector<TypoRange>* found) {
    const std::string_view text = Look(at);
    const size_t common = static_cast<size_t>(
        std::mismatch(prefix_.begin(), prefix_.end(), text.begin(), text.end()).first - prefix_.begin());
    while (steps_.back().end > common) steps_.pop_back();
    prefix_.resize(steps_.back().end);
    for (size_t byte = prefix_.size(); byte < text.size();) {
      const size_t begin = byte;
      const char32_t letter = ReadLetter(text, &byte);
      const auto next = automaton_.NextLetter(steps_.back().path, letter);
      if (!next) return PassPrefix(at + 1);
      if (*next > letter) {
        std::string wanted = prefix_;
        AppendUtf8(*next, &wanted);
        return Gallop(at + 1, [&wanted](std::string_view other) { return other < wanted; });
      }
      prefix_.append(text.substr(begin, byte - begin));
      steps_.push_back({automaton_.Step(steps_.back().path, letter), prefix_.size()});
      const int edits = automaton_.Edits(steps_.back().path.state);
      if (edits > TypoAutomaton::kMaxEdits) continue;
      const size_t end = PassPrefix(at + 1);
      found->push_back({{at, end}, edits, prefix_.size()});
      return end;
    }
    return at + 1;
  }

  const CompletionList& list_;
  const TypoAutomaton& automaton_;
  size_t looks_left_, end_ = 0;
  std::string prefix_;
  std::vector<Step> steps_;
};

}  // namespace

TypoRanges FindTypoRanges(const CompletionList& list, std::string_view typed,
                          const TypoRangeOptions& options) {
  const TypoAutomaton automaton(Letters(typed), options.max_edits);
  CompletionRange within = list.all();
  if (!options.may_change_first) {
    size_t first = 0;
    ReadLetter(typed, &first);
    within = list.BeginningWith(typed.substr(0, first));
  }
  return Walk(list, automaton, options.max_looks).Run(within);
}

int ToleratedTypos(std::string_view typed) {
  const std::u32string letters = Letters(typed);
  if (letters.size() < 4 || letters.size() > TypoAutomaton::kMaxLetters) return 0;
  if (std::any_of(letters.begin(), letters.end(), IsDigit)) return 0;
  return letters.size() < 8 ? 1 : 2;
}

}  // namespace waymark
