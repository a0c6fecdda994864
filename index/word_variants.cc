#include "index/word_variants.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "index/letters.h"
#include "index/term_walk.h"

namespace waymark {
namespace {

constexpr size_t kMergedTermsPerLook = 4096;  // at the clock
constexpr size_t kLettersForOneEdit = 4, kLettersForOtherFirst = 5, kLettersForTwoEdits = 8;

bool Lives(absl::Span<const SegmentView> segments, std::string_view term) {
  return std::any_of(segments.begin(), segments.end(), [&](const SegmentView& segment) {
    const auto found = segment.postings->FindTerm(term);
    return found && segment.live->document_count(*found) > 0;
  });
}

bool Better(const WordVariant& a, const WordVariant& b) {
  return std::tie(a.edits, b.documents, a.term) < std::tie(b.edits, a.documents, b.term);
}

// The best `limit` that live, in order.
std::vector<WordVariant> Best(absl::Span<const SegmentView> segments, std::vector<WordVariant> words,
                              size_t limit) {
  std::sort(words.begin(), words.end(), Better);
  std::vector<WordVariant> best;
  for (WordVariant& word : words) {
    if (best.size() == limit) break;
    if (Lives(segments, word.term)) best.push_back(std::move(word));
  }
  return best;
}

int64_t CountDocuments(absl::Span<const SegmentView> segments, std::string_view term) {
  int64_t documents = 0;
  for (const SegmentView& segment : segments) {
    if (const auto found = segment.postings->FindTerm(term)) {
      documents += segment.postings->document_count(*found);
    }
  }
  return documents;
}

// The terms of a range in most documents, at most `count`.
std::vector<TermIndex> MostFrequent(const CompiledSegment& segment, TermRange range, size_t count) {
  std::vector<TermIndex> terms(range.end - range.begin);
  for (size_t i = 0; i < terms.size(); ++i) terms[i] = range.begin + static_cast<TermIndex>(i);
  const auto more = [&](TermIndex a, TermIndex b) {
    return std::pair(segment.document_count(b), a) < std::pair(segment.document_count(a), b);
  };
  count = std::min(count, terms.size());
  std::partial_sort(terms.begin(), terms.begin() + static_cast<std::ptrdiff_t>(count), terms.end(), more);
  terms.resize(count);
  return terms;
}

// The best of each segment's most frequent terms; none: another one may be among the best.
std::optional<std::vector<WordVariant>> OfMostFrequent(absl::Span<const SegmentView> segments,
                                                       const std::vector<TermRange>& ranges, size_t limit) {
  std::map<std::string, WordVariant, std::less<>> words;
  int64_t others = 0;  // a term that is not looked at has at most so many documents
  bool all = true;
  for (size_t i = 0; i < segments.size(); ++i) {
    const CompiledSegment& segment = *segments[i].postings;
    const std::vector<TermIndex> best = MostFrequent(segment, ranges[i], 4 * limit);
    if (best.size() < ranges[i].end - ranges[i].begin) {
      all = false;
      others += segment.document_count(best.back());
    }
    for (TermIndex t : best) {
      const std::string_view text = segment.term(t);
      if (words.contains(text)) continue;
      words.emplace(text, WordVariant{std::string(text), 0, CountDocuments(segments, text)});
    }
  }
  std::vector<WordVariant> candidates;
  for (auto& [text, word] : words) candidates.push_back(std::move(word));
  std::vector<WordVariant> best = Best(segments, std::move(candidates), limit);
  // In one segment, terms of as many documents are looked at in their order.
  const bool enough = best.size() == limit && (segments.size() == 1 || best.back().documents > others);
  return all || enough ? std::optional(std::move(best)) : std::nullopt;
}

// The best of all terms of the ranges, which are merged in order: so that a million terms of as many
// documents each take no memory, and no longer than the deadline.
WordVariants OfAll(absl::Span<const SegmentView> segments, std::vector<TermRange> ranges, size_t limit,
                   Deadline deadline) {
  WordVariants found;
  std::vector<WordVariant>& heap = found.words;  // the worst on top
  for (size_t looked = 1;; ++looked) {
    if (looked % kMergedTermsPerLook == 0 && deadline.Expired()) {
      found.complete = false;
      break;
    }
    std::optional<std::string_view> first;
    for (size_t i = 0; i < segments.size(); ++i) {
      if (ranges[i].begin == ranges[i].end) continue;
      const std::string_view term = segments[i].postings->term(ranges[i].begin);
      if (!first || term < *first) first = term;
    }
    if (!first) break;
    int64_t documents = 0;
    for (size_t i = 0; i < segments.size(); ++i) {
      if (ranges[i].begin == ranges[i].end || segments[i].postings->term(ranges[i].begin) != *first) continue;
      documents += segments[i].postings->document_count(ranges[i].begin++);
    }
    // What comes later in the order loses every tie.
    if (heap.size() == limit && (limit == 0 || documents <= heap.front().documents)) continue;
    if (!Lives(segments, *first)) continue;
    if (heap.size() == limit) {
      std::pop_heap(heap.begin(), heap.end(), Better);
      heap.pop_back();
    }
    heap.push_back({std::string(*first), 0, documents});
    std::push_heap(heap.begin(), heap.end(), Better);
  }
  std::sort_heap(heap.begin(), heap.end(), Better);
  return found;
}

}  // namespace

int ToleratedEdits(std::string_view typed) {
  const std::u32string letters = Letters(typed);
  if (letters.size() < kLettersForOneEdit || letters.size() > TypoAutomaton::kMaxLetters) return 0;
  if (std::any_of(letters.begin(), letters.end(), IsDigit)) return 0;
  return letters.size() < kLettersForTwoEdits ? 1 : 2;
}

bool ToleratesOtherFirst(std::string_view typed) { return Letters(typed).size() >= kLettersForOtherFirst; }

WordVariants FindTypos(absl::Span<const SegmentView> segments, std::string_view term,
                       const TypoOptions& options, Deadline deadline) {
  WordVariants found;
  const std::u32string letters = Letters(term);
  if (letters.empty() || letters.size() > TypoAutomaton::kMaxLetters) return found;
  const TypoAutomaton automaton(letters, options.max_edits);
  std::map<std::string, WordVariant, std::less<>> words;
  for (const SegmentView& segment : segments) {
    found.complete = WalkTerms(*segment.postings, automaton, deadline, [&](TermIndex t, int edits) {
      const std::string_view text = segment.postings->term(t);
      size_t at = 0;
      if (!options.may_change_first && ReadLetter(text, &at) != letters[0]) return;
      auto word = words.find(text);
      if (word == words.end()) {
        word = words.emplace(text, WordVariant{std::string(text), edits, 0}).first;
      }
      word->second.documents += segment.postings->document_count(t);
    });
    if (!found.complete) break;
  }
  std::vector<WordVariant> all;
  for (auto& [text, word] : words) all.push_back(std::move(word));
  found.words = Best(segments, std::move(all), options.limit);
  return found;
}

WordVariants FindCompletions(absl::Span<const SegmentView> segments, std::string_view prefix, size_t limit,
                             Deadline deadline) {
  std::vector<TermRange> ranges;
  for (const SegmentView& segment : segments) {
    ranges.push_back(TermsThatBeginWith(*segment.postings, prefix));
  }
  WordVariants found;
  if (deadline.Expired()) {
    found.complete = false;
    return found;
  }
  if (auto words = OfMostFrequent(segments, ranges, limit)) {
    found.words = *std::move(words);
  } else {
    found = OfAll(segments, std::move(ranges), limit, deadline);
  }
  return found;
}

}  // namespace waymark
