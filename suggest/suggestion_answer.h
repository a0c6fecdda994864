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
#include "candidates/typo_tolerance.h"
#include "suggest/completion_text.h"
#include "suggest/suggestion_lists.h"

namespace waymark {

inline constexpr int kDefaultSuggestions = 10, kMaxSuggestions = 50;
inline constexpr size_t kMaxSuggestQueryBytes = 10'240;
inline constexpr int64_t kMaxCountedTitles = 1000;

enum class SuggestionKind { kTitle, kValue, kPastQuery };

struct SuggestRequest {
  std::string query;
  int limit = 0;                      // 0: kDefaultSuggestions
  std::vector<SuggestionKind> kinds;  // empty: all
  std::vector<std::string> fields;    // empty: all
  std::string filter;
  TypoTolerance typos = TypoTolerance::kAuto;
  std::string consistency_token;
};

struct Suggestion {
  std::string text;
  SuggestionKind kind = SuggestionKind::kTitle;
  std::string field;    // of titles and values
  std::string item_id;  // of titles
  int64_t count = 0;
  double weight = 0;
  std::vector<CompletionMatch> matches;
  std::string snippet;  // HTML
  int edits = 0;
};

struct SuggestAnswer {
  std::vector<Suggestion> suggestions;
  std::vector<std::string> cut_short;  // reasons
  absl::Duration time;
};

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
