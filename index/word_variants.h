// The words of an index that a word of a query may stand for: those a few typing errors away, and those that
// it begins. Which and how many, in what order, is decided here; the rules are in docs/queries.md.
//
//   WordVariants found = FindTypos(segments, "recieve", {.max_edits = 1}, Deadline::Never());
//   found.words[0].term;   // "receive"
//
// Thread-safe.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "candidates/deadline.h"
#include "index/index_snapshot.h"

namespace waymark {

struct WordVariant {
  std::string term;
  int edits = 0;
  // That hold it; deleted ones count until their segment is merged.
  int64_t documents = 0;
  bool operator==(const WordVariant&) const = default;
};

struct WordVariants {
  std::vector<WordVariant> words;
  bool complete = true;  // false: the deadline came
};

struct TypoOptions {
  int max_edits = 1;             // 1 or 2
  bool may_change_first = true;  // whether the first letter may be another one
  size_t limit = 50;             // the best so many
  bool operator==(const TypoOptions&) const = default;
};

// How many typing errors are taken for granted in a word as it was typed (case-folded): none in fewer than 4
// letters, with digits, or beyond TypoAutomaton::kMaxLetters; 1 in fewer than 8; else 2.
int ToleratedEdits(std::string_view typed);
// Whether the only tolerated error may be in the first letter: from 5 letters on.
bool ToleratesOtherFirst(std::string_view typed);

// Terms within some edits of `term`, itself among them: by edits, then those in more documents first, then by
// their bytes. Terms that no live document holds are left out. None for a term longer than the automaton
// takes.
WordVariants FindTypos(absl::Span<const SegmentView> segments, std::string_view term,
                       const TypoOptions& options, Deadline deadline);

// The terms that `prefix` begins: those in most documents first, then by their bytes.
WordVariants FindCompletions(absl::Span<const SegmentView> segments, std::string_view prefix, size_t limit,
                             Deadline deadline);

}  // namespace waymark
