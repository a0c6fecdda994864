#include "suggest/asked_instead.h"

#include <algorithm>

#include "index/letters.h"
#include "suggest/complete.h"

namespace waymark {
namespace {

constexpr size_t kLookedAt = 50;
// Two errors, each of a letter of at most four bytes.
constexpr size_t kMostBytesApart = 8;

// As docs/queries.md has it for words.
int Tolerated(size_t letters) { return letters < 4 ? 0 : letters < 8 ? 1 : 2; }

}  // namespace

std::string AskedInstead(const QueryList& queries, std::string_view query, Deadline deadline) {
  const Typed typed = TypedOf(query);
  if (queries.list == nullptr || typed.words.empty()) return {};
  const CompletionList& list = *queries.list;
  // What goes on behind what was typed is no other writing of it.
  const auto as_long = [&](CompletionEntry entry) {
    const size_t bytes = list.folded(entry).size(), typed_bytes = typed.words.size();
    return std::max(bytes, typed_bytes) - std::min(bytes, typed_bytes) <= kMostBytesApart;
  };
  const Completions found =
      Complete(list, typed, {.limit = kLookedAt, .typos = TypoTolerance::kAlways}, deadline, as_long);
  const std::u32string letters = Letters(typed.words);
  const Completion* best = nullptr;
  int fewest = Tolerated(letters.size());
  for (const Completion& each : found.best) {
    if (each.whole) return {};
    if (each.edits == 0 || each.begin != 0) continue;  // it goes on behind what was typed, or begins before
    const int edits = EditDistance(letters, Letters(list.folded(each.entry)));
    if (edits > fewest || (best != nullptr && edits == fewest && each.score <= best->score)) continue;
    best = &each;
    fewest = edits;
  }
  return best == nullptr ? std::string() : std::string(list.text(best->entry));
}

}  // namespace waymark
