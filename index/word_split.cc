#include "index/word_split.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "index/letters.h"
#include "index/phrase_leaf.h"

namespace waymark {
namespace {

// Letters of each of the two words.
constexpr size_t kMinPart = 2;
// Of the splits whose words are both held, those whose rarer word is in most documents are looked at.
constexpr size_t kSplitsLookedAt = 4;

struct Split {
  std::string first, second;
  int64_t documents = 0;  // of the rarer word, then of both side by side
};

// Calls visit(first, second) for each way to cut `typed` into two words.
template <class Visit>
void ForEachCut(std::string_view typed, Visit visit) {
  size_t letters = 0;
  const size_t all = Letters(typed).size();
  for (size_t at = 0; at < typed.size();) {
    ReadLetter(typed, &at);
    if (++letters >= kMinPart && letters + kMinPart <= all) visit(typed.substr(0, at), typed.substr(at));
  }
}

int64_t DocumentsWith(absl::Span<const SegmentView> segments, std::string_view term) {
  int64_t documents = 0;
  for (const SegmentView& segment : segments) {
    if (const auto found = segment.postings->FindTerm(term))
      documents += segment.live->document_count(*found);
  }
  return documents;
}

// False: the deadline came.
bool CountSideBySide(absl::Span<const SegmentView> segments, Deadline deadline, Split* split) {
  split->documents = 0;
  for (const SegmentView& segment : segments) {
    const auto first = segment.postings->FindTerm(split->first);
    const auto second = segment.postings->FindTerm(split->second);
    if (!first || !second) continue;
    PhraseCursor cursor(segment, {{*first, 0}, {*second, 1}}, Bm25Term{1, Bm25Lengths({}, 1)}, 1);
    size_t looked = 0;
    for (DocNumber doc = cursor.AdvanceToWords(0); doc != kNoDoc; doc = cursor.AdvanceToWords(doc + 1)) {
      if (++looked % 256 == 0 && deadline.Expired()) return false;
      if (!segment.live->Contains(doc) || cursor.Frequency() == 0) continue;
      if (++split->documents == kMaxSplitDocuments) return true;
    }
  }
  return true;
}

bool HasMore(const Split& a, const Split& b) { return a.documents > b.documents; }

}  // namespace

std::string TermOfWord(const Analyzer& analyzer, std::string_view text) {
  std::string term;
  size_t words = 0;
  analyzer.ForEachWord(text, [&](const AnalysedWord& word) {
    if (++words == 1) term.assign(word.term);
  });
  return words == 1 ? term : std::string();
}

WordVariants FindSplit(absl::Span<const SegmentView> segments, const Analyzer& analyzer,
                       std::string_view typed, Deadline deadline) {
  WordVariants found;
  std::vector<Split> splits;
  ForEachCut(typed, [&](std::string_view left, std::string_view right) {
    if (deadline.Expired()) found.complete = false;
    if (!found.complete) return;
    Split split{TermOfWord(analyzer, left), TermOfWord(analyzer, right)};
    if (split.first.empty() || split.second.empty()) return;
    split.documents = std::min(DocumentsWith(segments, split.first), DocumentsWith(segments, split.second));
    if (split.documents > 0) splits.push_back(std::move(split));
  });
  std::stable_sort(splits.begin(), splits.end(), HasMore);
  splits.resize(std::min(splits.size(), kSplitsLookedAt));
  for (Split& split : splits) {
    if (!found.complete) return found;
    found.complete = CountSideBySide(segments, deadline, &split);
  }
  const auto best = std::min_element(splits.begin(), splits.end(), HasMore);
  if (found.complete && best != splits.end() && best->documents > 0) {
    found.words.push_back({absl::StrCat(best->first, " ", best->second), 1, best->documents});
  }
  return found;
}

std::optional<std::string> SplitAsTyped(const Analyzer& analyzer, std::string_view typed,
                                        std::string_view terms) {
  std::optional<std::string> made;
  ForEachCut(typed, [&](std::string_view left, std::string_view right) {
    if (made ||
        absl::StrCat(TermOfWord(analyzer, left), " ", TermOfWord(analyzer, right)) != std::string(terms)) {
      return;
    }
    made = absl::StrCat(std::string(left), " ", std::string(right));
  });
  return made;
}

}  // namespace waymark
