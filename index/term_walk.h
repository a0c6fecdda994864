// Finds terms of a compiled segment in their sorted order without reading those that cannot match: by a
// beginning, or by an automaton, whose dead ends are passed over by galloping search.
//
// Thread-safe.
#pragma once
#include <string_view>

#include "absl/functional/function_ref.h"
#include "candidates/deadline.h"
#include "index/compiled_segment.h"
#include "index/typo_automaton.h"

namespace waymark {

struct TermRange {
  TermIndex begin = 0, end = 0;
};
TermRange TermsThatBeginWith(const CompiledSegment& segment, std::string_view prefix);

// Visits every term that the automaton takes, in order, with its edits. False: the deadline came.
bool WalkTerms(const CompiledSegment& segment, const TypoAutomaton& automaton, Deadline deadline,
               absl::FunctionRef<void(TermIndex term, int edits)> visit);

}  // namespace waymark
