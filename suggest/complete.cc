#include "suggest/complete.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "suggest/completion_text.h"
#include "suggest/typo_ranges.h"

namespace waymark {
namespace {

constexpr size_t kOffersPerLook = 256;  // at the clock
constexpr int kShortestFreeFirst = 5;   // letters from which an error may be in the first one

class Completer {
 public:
  Completer(const CompletionList& list, const Typed& typed, const CompleteOptions& options, Deadline deadline,
            absl::FunctionRef<bool(CompletionEntry)> accept)
      : list_(list), typed_(typed), options_(options), deadline_(deadline), accept_(accept) {}

  Completions Run() {
    if (!typed_.empty && typed_.words.empty()) return std::move(found_);
    if (!typed_.words.empty()) TakeWhole();
    const CompletionRange range = list_.BeginningWith(typed_.prefix);
    TakeBest({&range, 1}, {{range, 0, typed_.words.size()}});
    if (options_.typos != TypoTolerance::kOff && !typed_.words.empty()) TakeTypos();
    return std::move(found_);
  }

 private:
  bool Full() const { return found_.best.size() >= options_.limit; }

  // Texts that are what was typed: those that start their text come first among equal beginnings.
  void TakeWhole() {
    for (size_t i = list_.LowerBound(typed_.words); i < list_.size() && !Full(); ++i) {
      if (!list_.starts_text(i) || list_.beginning(i) != typed_.words) return;
      const CompletionEntry e = list_.entry(i);
      if (!offered_.insert(e).second || !accept_(e)) continue;
      found_.best.push_back({e, 0, typed_.words.size(), 0, true, list_.Score(e, true), true});
    }
  }

  // `matched`: the ranges in order, with what stands there for what was typed.
  void TakeBest(absl::Span<const CompletionRange> ranges, const std::vector<TypoRange>& matched) {
    BestFirst best(list_, ranges);
    for (size_t offers = 0; !Full(); ++offers) {
      if (offers == options_.max_offers || (offers % kOffersPerLook == 255 && deadline_.Expired())) {
        found_.complete = false;
        return;
      }
      const auto i = best.Next();
      if (!i) return;
      const CompletionEntry e = list_.entry(*i);
      if (!offered_.insert(e).second || !accept_(e)) continue;
      const auto match =
          std::upper_bound(matched.begin(), matched.end(), *i,
                           [](size_t place, const TypoRange& m) { return place < m.range.begin; }) -
          1;
      const size_t begin = list_.place(*i);
      const bool start = list_.starts_text(*i);
      found_.best.push_back(
          {e, begin, begin + match->bytes, match->edits, false, list_.Score(e, start), start});
    }
  }

  void TakeTypos() {
    const int tolerated = ToleratedTypos(typed_.words);
    const bool only_where_none = options_.typos == TypoTolerance::kAuto;
    for (int edits = 1; edits <= tolerated && !Full(); ++edits) {
      if ((edits > 1 || only_where_none) && !found_.best.empty()) return;
      TypoRangeOptions options;
      options.max_edits = edits;
      // With two errors only those are looked for that begin alike: the others are too many.
      options.may_change_first = edits == 1 && typed_.words.size() >= kShortestFreeFirst;
      const TypoRanges typos = FindTypoRanges(list_, typed_.words, options);
      found_.complete = found_.complete && typos.complete;
      std::vector<CompletionRange> ranges;
      for (const TypoRange& typo : typos.ranges) ranges.push_back(typo.range);
      TakeBest(ranges, typos.ranges);
    }
  }

  const CompletionList& list_;
  const Typed& typed_;
  const CompleteOptions& options_;
  const Deadline deadline_;
  absl::FunctionRef<bool(CompletionEntry)> accept_;
  absl::flat_hash_set<CompletionEntry> offered_;
  Completions found_;
};

}  // namespace

Typed TypedOf(std::string_view query) {
  FoldedText folded = FoldForCompletion(query);
  Typed typed;
  typed.empty = query.empty();
  typed.words = std::move(folded.folded);
  typed.prefix = typed.words;
  if (folded.ended) typed.prefix.push_back(' ');
  return typed;
}

Completions Complete(const CompletionList& list, const Typed& typed, const CompleteOptions& options,
                     Deadline deadline, absl::FunctionRef<bool(CompletionEntry)> accept) {
  return Completer(list, typed, options, deadline, accept).Run();
}

}  // namespace waymark
