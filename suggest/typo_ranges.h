// Where in a list of beginnings somebody is who has made typing errors: every stretch that begins with
// something that is at most a few errors from what was typed. Blanks are letters here, so «starwars» comes to
// «star wars».
//
//   TypoRanges found = FindTypoRanges(list, "strat wars", {.max_edits = 1});
//
// Thread-safe.
#pragma once
#include <string_view>
#include <vector>

#include "suggest/completion_list.h"

namespace waymark {

struct TypoRangeOptions {
  int max_edits = 1;             // 1 or 2
  bool may_change_first = true;  // whether the first letter may be another one
  size_t max_looks = 100'000;    // at prefixes and texts
};

struct TypoRange {
  CompletionRange range;
  int edits = 0;
  size_t bytes = 0;  // of the folded text that stand for what was typed
};

struct TypoRanges {
  std::vector<TypoRange> ranges;  // in order, apart from each other
  bool complete = true;           // false: there was more to look at than allowed
};

// What was typed, folded: 1 to TypoAutomaton::kMaxLetters code points.
TypoRanges FindTypoRanges(const CompletionList& list, std::string_view typed,
                          const TypoRangeOptions& options);

// How many errors are taken for granted in what was typed: none in fewer than 4 letters, with digits, or
// beyond TypoAutomaton::kMaxLetters; 1 in fewer than 8; else 2. In 4 letters not in the first one.
int ToleratedTypos(std::string_view typed);

}  // namespace waymark
