#include "index/term_walk.h"

#include <algorithm>
#include <string>
#include <vector>

#include "index/analyzer.h"
#include "index/letters.h"

namespace waymark {
namespace {

constexpr char kBehindForms[] = {kFormMark + 1, 0};
constexpr size_t kTermsPerLook = 1024;  // at the clock

// The first term from `from` on of which `before` does not hold; it holds of those before that.
template <class Before>
TermIndex Gallop(const CompiledSegment& segment, TermIndex from, Before before) {
  const auto end = static_cast<TermIndex>(segment.term_count());
  TermIndex low = from, step = 1;
  while (low < end && step < end - low && before(segment.term(low + step - 1))) {
    low += step;
    step *= 2;
  }
  TermIndex high = step < end - low ? low + step - 1 : end;
  while (low < high) {
    const TermIndex middle = low + (high - low) / 2;
    if (before(segment.term(middle))) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

TermIndex PassPrefix(const CompiledSegment& segment, TermIndex from, std::string_view prefix) {
  return Gallop(segment, from,
                [prefix](std::string_view term) { return term.substr(0, prefix.size()) <= prefix; });
}

class Walk {
 public:
  Walk(const CompiledSegment& segment, const TypoAutomaton& automaton)
      : segment_(segment), automaton_(automaton), steps_{{automaton.Start(), 0}} {}

  bool Run(Deadline deadline, absl::FunctionRef<void(TermIndex, int)> visit) {
    size_t looked = 0;
    // Exact forms come before all words.
    for (TermIndex t = segment_.LowerBound(kBehindForms); t < segment_.term_count();) {
      if (++looked % kTermsPerLook == 0 && deadline.Expired()) return false;
      const std::string_view term = segment_.term(t);
      if (const auto next = Follow(t, term)) {
        t = *next;
        continue;
      }
      const int edits = automaton_.Edits(steps_.back().path.state);
      if (edits <= TypoAutomaton::kMaxEdits) visit(t, edits);
      ++t;
    }
    return true;
  }

 private:
  struct Step {
    TypoAutomaton::Path path;
    size_t end;  // bytes of prefix_ that led here
  };

  // Takes the path along a term, from where it leaves the one before. Where it comes to a dead end: the next
  // term that has another way.
  std::optional<TermIndex> Follow(TermIndex t, std::string_view term) {
    const size_t common = static_cast<size_t>(
        std::mismatch(prefix_.begin(), prefix_.end(), term.begin(), term.end()).first - prefix_.begin());
    while (steps_.back().end > common) steps_.pop_back();
    prefix_.resize(steps_.back().end);
    for (size_t at = prefix_.size(); at < term.size();) {
      const size_t begin = at;
      const char32_t letter = ReadLetter(term, &at);
      const auto next = automaton_.NextLetter(steps_.back().path, letter);
      if (!next) return PassPrefix(segment_, t + 1, prefix_);
      if (*next > letter) {
        std::string wanted = prefix_;
        AppendUtf8(*next, &wanted);
        return Gallop(segment_, t + 1, [&wanted](std::string_view other) { return other < wanted; });
      }
      prefix_.append(term.substr(begin, at - begin));
      steps_.push_back({automaton_.Step(steps_.back().path, letter), prefix_.size()});
    }
    return std::nullopt;
  }

  const CompiledSegment& segment_;
  const TypoAutomaton& automaton_;
  std::string prefix_;
  std::vector<Step> steps_;
};

}  // namespace

TermRange TermsThatBeginWith(const CompiledSegment& segment, std::string_view prefix) {
  const TermIndex begin = segment.LowerBound(prefix);
  return {begin, PassPrefix(segment, begin, prefix)};
}

bool WalkTerms(const CompiledSegment& segment, const TypoAutomaton& automaton, Deadline deadline,
               absl::FunctionRef<void(TermIndex, int)> visit) {
  return Walk(segment, automaton).Run(deadline, visit);
}

}  // namespace waymark
