// What is asked of suggestions, and what is answered.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "candidates/typo_tolerance.h"
#include "store/ids.h"
#include "suggest/completion_text.h"

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

struct SuggestionStatus {
  LogOffset position = 0;
  int64_t entries = 0, bytes = 0, past_queries = 0;
  std::string rebuild_reason;  // why files were set aside; empty: none was
};

}  // namespace waymark
