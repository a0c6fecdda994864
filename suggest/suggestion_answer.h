// One request for suggestions, answered from an immutable snapshot and from the catalogue as it is now: items
// and values that are gone are not suggested, whatever the lists hold.
//
// Kinds take turns: the best past query, the best title, the best value, then the second of each. Texts that
// are just what was typed come first, then what begins so, then what is some typing errors away.
//
//   auto answer = AnswerSuggest(snapshot, parts, {.query = "sta"}, deadline);
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "candidates/deadline.h"
#include "suggest/suggestion.h"
#include "suggest/suggestion_lists.h"

namespace waymark {

struct QueryList {
  std::shared_ptr<const CompletionList> list;
  std::vector<uint32_t> users;  // [entry]
};

// What is suggested from, at one moment.
struct SuggestionSnapshot {
  std::shared_ptr<const SuggestionLists> main;                      // null: not made yet
  std::shared_ptr<const SuggestionLists> tail;                      // items that changed since; null: none
  std::shared_ptr<const absl::flat_hash_set<ItemOrdinal>> changed;  // items of the tail, and deleted ones
  QueryList queries;
  LogOffset position = 0;
};

// INVALID_ARGUMENT names the field: its size, its range, the fields that there are, a filter's column.
absl::StatusOr<SuggestAnswer> AnswerSuggest(const SuggestionSnapshot& snapshot, const ListParts& parts,
                                            const SuggestRequest& request, Deadline deadline);

}  // namespace waymark
