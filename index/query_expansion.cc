#include "index/query_expansion.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/strings/str_cat.h"
#include "index/word_split.h"
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
      const bool expands = Expands(t) && expanded < kMaxExpandedWords;
      if (!expands && !InSomeFields(t)) continue;
      expanded += expands;
      std::vector<Meaning> meanings;
      for (const QueryAlternate& own : OwnTerms(t)) {
        auto words = expands ? WordsOf(t, own) : std::vector<WordVariant>();
        if (words.empty() && InSomeFields(t)) words.push_back({own.term, 0, 0});
        for (WordVariant& word : words) meanings.push_back({std::move(word), own.scope});
      }
      Bind(t, meanings);
    }
    return complete_;
  }

 private:
  struct Meaning {
    WordVariant word;
    uint32_t scope;
  };

  bool InSomeFields(size_t t) const {
    return bound_.query.term_scopes[t] != 0 || !bound_.query.AlternatesOf(t).empty();
  }

  // As each analysis of the fields has the word.
  std::vector<QueryAlternate> OwnTerms(size_t t) const {
    std::vector<QueryAlternate> own{{bound_.query.terms[t], bound_.query.term_scopes[t]}};
    const auto others = bound_.query.AlternatesOf(t);
    own.insert(own.end(), others.begin(), others.end());
    return own;
  }

  bool Expands(size_t t) const {
    const ReadingKind kind = bound_.query.readings[t].kind;
    if (kind == ReadingKind::kExact) return false;
    if (kind != ReadingKind::kWord) return true;
    if (typos_ == TypoTolerance::kOff || !bound_.query.asked[t]) return false;
    return typos_ != TypoTolerance::kAuto || DocumentsWithAny(t) <= kFewDocuments;
  }

  std::vector<WordVariant> WordsOf(size_t t, const QueryAlternate& own) {
    const TermReading& reading = bound_.query.readings[t];
    switch (reading.kind) {
      case ReadingKind::kPrefix: {
        auto words = Completions(own.term);
        // Exact forms are longer than stems.
        if (AnalyzerOf(own.scope).standard()) {
          for (WordVariant& form : Completions(kFormMark + own.term)) words.push_back(std::move(form));
        }
        return words;
      }
      case ReadingKind::kTypos: {
        const int edits = reading.edits > 0 ? reading.edits : std::max(1, ToleratedEdits(reading.typed));
        return Typos(own.term, {edits, true, kMaxVariants});
      }
      case ReadingKind::kWord:
        return TakenForMisspelled(t, own);
      case ReadingKind::kExact:
        break;
    }
    return {};
  }

  std::vector<WordVariant> Completions(const std::string& prefix) {
    return Look("*", prefix,
                [&] { return FindCompletions(snapshot_.segments, prefix, kMaxVariants, deadline_); });
  }

  const Analyzer& AnalyzerOf(uint32_t scope) const {
    const QueryScope& where = bound_.query.scopes[scope];
    if (where.group) return snapshot_.analyzers.groups()[*where.group];
    return where.field.empty() ? snapshot_.analyzers.groups()[0] : snapshot_.analyzers.Of(where.field);
  }

  // Of words as people type them: what they are taken for, themselves among it; none: what they are.
  std::vector<WordVariant> TakenForMisspelled(size_t t, const QueryAlternate& own) {
    const TermReading& reading = bound_.query.readings[t];
    const std::string& term = own.term;
    const int tolerated = ToleratedEdits(reading.typed);
    if (tolerated == 0) return {};
    const bool first = ToleratesOtherFirst(reading.typed);
    const int64_t documents = DocumentsWithAny(t);
    std::vector<WordVariant> words;
    // Two errors are thought of only where one explains nothing.
    for (int edits = 1; edits <= tolerated; ++edits) {
      words = Typos(term, {edits, first, kMaxCorrections});
      // A missing blank is one error.
      if (edits == 1 && own.scope == 0) AddSplit(reading.typed, &words);
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
    const bool known = std::any_of(bound_.corrections.begin(), bound_.corrections.end(),
                                   [t](const Correction& correction) { return correction.term == t; });
    if (documents <= kFewDocuments && best != words.end() && !known) {
      bound_.corrections.push_back({static_cast<uint32_t>(t), best->term});
    }
    if (typos_ == TypoTolerance::kAuto) {
      std::erase_if(words, [&](const WordVariant& word) { return word.edits > 0 && !meant(word); });
    }
    return words;
  }

  // Where it belongs among the words: by edits, then those in more documents first.
  void AddSplit(const std::string& typed, std::vector<WordVariant>* words) {
    for (const WordVariant& split :
         Look("| ", typed, [&] { return FindSplit(snapshot_.segments, AnalyzerOf(0), typed, deadline_); })) {
      const auto behind = [&](const WordVariant& word) {
        return word.edits > split.edits || (word.edits == split.edits && word.documents < split.documents);
      };
      words->insert(std::find_if(words->begin(), words->end(), behind), split);
    }
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

  int64_t DocumentsWith(const std::string& term) const {
    int64_t documents = 0;
    for (const SegmentView& segment : snapshot_.segments) {
      if (const auto found = segment.postings->FindTerm(term))
        documents += segment.live->document_count(*found);
    }
    return documents;
  }

  // In whichever analysis it is in most.
  int64_t DocumentsWithAny(size_t t) const {
    int64_t documents = 0;
    for (const SegmentView& segment : snapshot_.segments) {
      if (const auto term = bound_.Find(segment, t)) documents += segment.live->document_count(*term);
    }
    for (const QueryAlternate& other : bound_.query.AlternatesOf(t)) {
      documents = std::max(documents, DocumentsWith(other.term));
    }
    return documents;
  }

  // Documents that may hold it; it is in `segments` where they do.
  int64_t FindWord(const WordVariant& word, BoundVariant* variant) const {
    const size_t blank = word.term.find(' ');
    int64_t documents = 0;
    variant->term = word.term.substr(0, blank);
    if (blank != std::string::npos) variant->second = word.term.substr(blank + 1);
    for (const SegmentView& segment : snapshot_.segments) {
      const auto term = segment.postings->FindTerm(variant->term);
      variant->found.push_back(term.value_or(kNoTerm));
      if (blank != std::string::npos) {
        variant->found_second.push_back(segment.postings->FindTerm(variant->second).value_or(kNoTerm));
      } else if (term) {
        documents += segment.live->document_count(*term);
      }
    }
    return blank == std::string::npos ? documents : word.documents;
  }

  void Bind(size_t t, const std::vector<Meaning>& meanings) {
    std::vector<BoundVariant> variants;
    const auto own_terms = OwnTerms(t);
    const auto is_own = [&](const BoundVariant& variant) {
      return std::any_of(own_terms.begin(), own_terms.end(), [&](const QueryAlternate& own) {
        return own.term == variant.term && own.scope == variant.scope && variant.second.empty();
      });
    };
    if (own_terms.size() > 1) {
      const int64_t documents = DocumentsWithAny(t);
      idf_[t] = documents > 0 ? Bm25Idf(snapshot_.documents, documents) : 0;
    }
    int64_t most = 0;  // documents of a variant that is not the term itself
    for (const Meaning& meaning : meanings) {
      BoundVariant variant;
      variant.edits = meaning.word.edits;
      variant.scope = meaning.scope;
      const int64_t documents = FindWord(meaning.word, &variant);
      if (documents == 0) continue;
      if (is_own(variant)) {
        variant.idf = idf_[t];
      } else {
        most = std::max(most, documents);
      }
      variants.push_back(std::move(variant));
    }
    if (variants.empty()) return;
    const bool asked = bound_.query.asked[t];
    for (BoundVariant& variant : variants) {
      if (is_own(variant) || !asked) continue;
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
