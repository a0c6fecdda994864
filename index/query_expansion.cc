#include "index/query_expansion.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/strings/str_cat.h"
#include "index/word_variants.h"

namespace waymark {
namespace {

using ReadingKind = TermReading::Kind;
using Found = std::shared_ptr<const WordVariants>;

constexpr size_t kMinStem = 3;

class Expansion {
 public:
  Expansion(const IndexSnapshot& snapshot, TypoTolerance typos, Deadline deadline, std::vector<double>* idf,
            BoundQuery* bound)
      : snapshot_(snapshot), typos_(typos), deadline_(deadline), idf_(*idf), bound_(*bound) {}

  bool Run() {
    const ParsedQuery& query = bound_.query;
    bound_.variants.resize(query.terms.size());
    size_t expanded = 0;
    for (size_t t = 0; t < query.terms.size() && complete_; ++t) {
      const ReadingKind kind = query.readings[t].kind;
      if (kind == ReadingKind::kExact ||
          (kind == ReadingKind::kWord && (typos_ == TypoTolerance::kOff || !query.asked[t]))) {
        continue;
      }
      if (kind == ReadingKind::kWord && typos_ == TypoTolerance::kAuto && DocumentsWith(t) > kFewDocuments)
        continue;
      if (expanded++ == kMaxExpandedWords) break;
      Expand(t);
    }
    return complete_;
  }

 private:
  void Expand(size_t t) {
    const TermReading& reading = bound_.query.readings[t];
    const std::string& term = bound_.query.terms[t];
    std::vector<WordVariant> words;
    switch (reading.kind) {
      case ReadingKind::kPrefix:
        words = Look("*", term,
                     [&] { return FindCompletions(snapshot_.segments, term, kMaxVariants, deadline_); });
        break;
      case ReadingKind::kTypos: {
        const int edits = reading.edits > 0 ? reading.edits : std::max(1, ToleratedEdits(reading.typed));
        words = Typos(term, {edits, true, kMaxVariants});
        break;
      }
      case ReadingKind::kWord:
        words = TakenForMisspelled(t);
        break;
      case ReadingKind::kExact:
        return;
    }
    Bind(t, words);
  }

  // Of words as people type them: what they are taken for, themselves among it; none: what they are.
  std::vector<WordVariant> TakenForMisspelled(size_t t) {
    const TermReading& reading = bound_.query.readings[t];
    const std::string& term = bound_.query.terms[t];
    const int tolerated = ToleratedEdits(reading.typed);
    if (tolerated == 0) return {};
    const bool first = ToleratesOtherFirst(reading.typed);
    const int64_t documents = DocumentsWith(t);
    std::vector<WordVariant> words;
    // Two errors are thought of only where one explains nothing.
    for (int edits = 1; edits <= tolerated; ++edits) {
      words = Typos(term, {edits, first, kMaxCorrections});
      if (AnyOther(words)) break;
      // An error can keep the stemmer from cutting a last e: "twleve" stays, "twelve" becomes "twelv".
      if (!term.ends_with('e') || term.size() <= kMinStem) continue;
      for (WordVariant& word : Typos(term.substr(0, term.size() - 1), {edits, first, kMaxCorrections})) {
        if (word.edits > 0 && word.term != term) words.push_back(std::move(word));
      }
      if (AnyOther(words)) break;
    }
    const auto meant = [&](const WordVariant& word) {
      return word.edits > 0 && word.documents >= kFarMoreFrequent * documents;
    };
    const auto best = std::find_if(words.begin(), words.end(), meant);
    if (documents <= kFewDocuments && best != words.end()) {
      bound_.corrections.push_back({static_cast<uint32_t>(t), best->term});
    }
    if (typos_ == TypoTolerance::kAuto) {
      std::erase_if(words, [&](const WordVariant& word) { return word.edits > 0 && !meant(word); });
    }
    return words;
  }

  static bool AnyOther(const std::vector<WordVariant>& words) {
    return std::any_of(words.begin(), words.end(), [](const WordVariant& word) { return word.edits > 0; });
  }

  std::vector<WordVariant> Typos(const std::string& term, const TypoOptions& options) {
    return Look(absl::StrCat(options.max_edits, options.may_change_first ? "~" : "-", options.limit, " "),
                term, [&] { return FindTypos(snapshot_.segments, term, options, deadline_); });
  }

  template <class Find>
  std::vector<WordVariant> Look(const std::string& how, const std::string& term, Find find) {
    const std::string key = how + term;
    Found found = snapshot_.variants->Find(key);
    if (!found) {
      found = std::make_shared<const WordVariants>(find());
      complete_ = complete_ && found->complete;
      if (found->complete) snapshot_.variants->Keep(key, found);
    }
    return found->words;
  }

  int64_t DocumentsWith(size_t t) const {
    int64_t documents = 0;
    for (const SegmentView& segment : snapshot_.segments) {
      if (const auto term = bound_.Find(segment, t)) documents += segment.live->document_count(*term);
    }
    return documents;
  }

  void Bind(size_t t, const std::vector<WordVariant>& words) {
    std::vector<BoundVariant> variants;
    int64_t most = 0;  // documents of a variant that is not the term itself
    for (const WordVariant& word : words) {
      BoundVariant variant{word.term, word.edits, 0, 0, {}};
      int64_t documents = 0;
      for (const SegmentView& segment : snapshot_.segments) {
        const auto term = segment.postings->FindTerm(word.term);
        variant.found.push_back(term.value_or(kNoTerm));
        if (term) documents += segment.live->document_count(*term);
      }
      if (documents == 0) continue;
      if (word.term == bound_.query.terms[t]) {
        variant.idf = idf_[t];
      } else {
        most = std::max(most, documents);
      }
      variants.push_back(std::move(variant));
    }
    if (variants.empty()) return;
    const bool asked = bound_.query.asked[t];
    for (BoundVariant& variant : variants) {
      if (variant.term == bound_.query.terms[t] || !asked) continue;
      const int more = variant.edits - variants[0].edits;
      variant.idf = Bm25Idf(snapshot_.documents, most) * kOtherTerm * std::pow(kEachMoreEdit, more);
    }
    for (const BoundVariant& variant : variants) idf_[t] = std::max(idf_[t], variant.idf);
    if (variants.size() == 1) {
      for (size_t s = 0; s < bound_.found_terms.size(); ++s) bound_.found_terms[s][t] = variants[0].found[s];
    }
    bound_.variants[t] = std::move(variants);
  }

  const IndexSnapshot& snapshot_;
  const TypoTolerance typos_;
  const Deadline deadline_;
  std::vector<double>& idf_;
  BoundQuery& bound_;
  bool complete_ = true;
};

}  // namespace

bool ExpandQuery(const IndexSnapshot& snapshot, TypoTolerance typos, Deadline deadline,
                 std::vector<double>* idf, BoundQuery* bound) {
  return Expansion(snapshot, typos, deadline, idf, bound).Run();
}

}  // namespace waymark
