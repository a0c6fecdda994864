#include "index/stop_words.h"

#include <algorithm>
#include <array>

namespace waymark {
namespace {

// Sorted.
constexpr std::array<std::string_view, 33> kStopWords = {
    "a",   "an",    "and",  "are",   "as",    "at",   "be",   "but", "by",  "for",  "if",
    "in",  "into",  "is",   "it",    "no",    "not",  "of",   "on",  "or",  "such", "that",
    "the", "their", "then", "there", "these", "they", "this", "to",  "was", "will", "with"};
static_assert(std::is_sorted(kStopWords.begin(), kStopWords.end()));

}  // namespace

bool IsStopWord(std::string_view word) {
  return word.size() <= 5 && std::binary_search(kStopWords.begin(), kStopWords.end(), word);
}

}  // namespace waymark
