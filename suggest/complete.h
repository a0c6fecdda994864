// The best entries of one list for what was typed: first a text that is just that, then what begins so, then
// what begins with something a few typing errors away.
//
//   Completions found = Complete(list, TypedOf("star w"), {.limit = 10}, [](CompletionEntry) { return true;
//   });
//
// Thread-safe.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "candidates/deadline.h"
#include "candidates/typo_tolerance.h"
#include "suggest/completion_list.h"

namespace waymark {

// What was typed, folded.
struct Typed {
  std::string words;   // the words that there are
  std::string prefix;  // the same, with a blank behind them where the last word was ended
  bool empty = false;  // nothing was typed: everything begins so. Else, without words: nothing does
};
Typed TypedOf(std::string_view query);

struct CompleteOptions {
  size_t limit = 10;
  TypoTolerance typos = TypoTolerance::kAuto;
  // Entries that are offered to `accept` at most, for each kind of match.
  size_t max_offers = 20'000;
};

struct Completion {
  CompletionEntry entry = 0;
  size_t begin = 0, end = 0;  // bytes of the folded text that stand for what was typed
  int edits = 0;
  bool whole = false;  // the text is what was typed
  double score = 0;    // CompletionList::Score
  bool start = false;  // the match begins the text
};

struct Completions {
  std::vector<Completion> best;  // by edits, whole texts first, then by score, beginnings of texts, entry
  bool complete = true;          // false: a limit or the deadline came before all was looked at
};

// `accept`: whether an entry may be shown; each is asked for once.
Completions Complete(const CompletionList& list, const Typed& typed, const CompleteOptions& options,
                     Deadline deadline, absl::FunctionRef<bool(CompletionEntry)> accept);

}  // namespace waymark
