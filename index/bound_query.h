// A parsed query with the statistics of one snapshot.
//
// Immutable; thread-safe.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "candidates/deadline.h"
#include "candidates/typo_tolerance.h"
#include "index/bm25.h"
#include "index/index_snapshot.h"
#include "index/phrase_leaf.h"
#include "index/query_parser.h"

namespace waymark {

// A query without structure: words that must, may and must not be held (into ParsedQuery::terms), each once.
struct FlatQuery {
  std::vector<uint32_t> must, should, must_not;
};

inline constexpr TermIndex kNoTerm = 0xFFFFFFFFu;

// Words of a query that are looked for among misspellings or beginnings; later ones are taken as they are.
inline constexpr size_t kMaxExpandedWords = 32;

// A term that a word of the query stands for; or two, side by side, where it was written together.
struct BoundVariant {
  std::string term, second = {};
  int edits = 0;                 // typing errors between the two
  double idf = 0;                // what it counts for: less than its own where it is not what was typed
  float weight = 0;              // as BoundQuery::term_weight
  std::vector<TermIndex> found;  // [segments]; kNoTerm: the segment has it not
  std::vector<TermIndex> found_second = {};  // the same of `second`; empty: there is none
  uint32_t scope = 0;                        // into ParsedQuery::scopes
};

// A word or phrase that stands beside words of the query.
struct BoundSynonym {
  std::vector<std::string> terms;
  std::vector<uint32_t> offsets;              // [terms]: places in the phrase
  std::vector<std::vector<TermIndex>> found;  // [segments, terms]; kNoTerm: the segment has it not
  float weight = 0;                           // as BoundQuery::phrase_weight
  // Of one of its terms the segment has nothing.
  bool MissingIn(const SegmentView& segment) const {
    const std::vector<TermIndex>& terms_found = found[segment.number];
    return std::find(terms_found.begin(), terms_found.end(), kNoTerm) != terms_found.end();
  }
  std::vector<PhraseCursor::Word> WordsIn(const SegmentView& segment) const;
};

// A place of the query that synonyms widen: a document scores the best of what the typed words give together
// and of what each other gives.
struct BoundSynonyms {
  std::vector<float> typed_weight;   // [QuerySynonyms::typed]
  std::vector<BoundSynonym> others;  // those that documents may hold
};

// What another word or phrase counts for, of what the typed words do.
inline constexpr double kSynonymShare = 0.9;

// A word that is taken for misspelled, and what is meant.
struct Correction {
  uint32_t term;  // into ParsedQuery::terms
  std::string meant;
};

// One of the ways in which a phrase may be written.
struct BoundPhrase {
  std::vector<QueryPhrase::Word> words;
  uint32_t scope = 0;
  float weight = 0;  // sum of idf * phrase_boost, in units
};

struct BoundQuery {
  ParsedQuery query;
  std::vector<float> term_weight;    // [terms]: idf * term_times in units; 0 for words that are only excluded
  std::vector<float> phrase_weight;  // [phrases]: sum of idf * phrase_times, in units
  std::vector<std::vector<BoundPhrase>>
      phrases;  // [phrases]: each way in which it may be written, as it is first
  // [scopes, segments, fields]: weights of those in which the term counts, else 0; none for the first scope.
  std::vector<std::vector<std::vector<float>>> scope_weights;
  double unit = 1;  // of fixed-point scores
  Bm25Lengths lengths;
  double average_length = 0;
  std::vector<std::vector<TermIndex>> found_terms;  // [segments, terms]; kNoTerm: the segment has it not
  // [terms]: where a word stands for several terms, all of them; a document's score is that of the best. A
  // word that stands for one other term has it in found_terms.
  std::vector<std::vector<BoundVariant>> variants;
  std::vector<BoundSynonyms> synonyms;  // [ParsedQuery::synonyms]
  std::vector<Correction> corrections;
  std::optional<FlatQuery>
      flat;              // none: the query has more structure, phrases, synonyms or variants of two words
  bool complete = true;  // false: the deadline came while statistics were counted, nothing may be searched

  // Whether `variants` say what the word stands for; else one term does, in all fields.
  bool StandsForSeveral(size_t t) const {
    return variants[t].size() > 1 ||
           (variants[t].size() == 1 && (variants[t][0].scope != 0 || !variants[t][0].found_second.empty()));
  }
  // Whether one of these is two words, side by side.
  bool StandsForPairs(size_t t) const {
    return std::any_of(variants[t].begin(), variants[t].end(),
                       [](const BoundVariant& variant) { return !variant.found_second.empty(); });
  }
  // As TermLeaf takes them.
  absl::Span<const float> WeightsIn(const SegmentView& segment, uint32_t scope) const {
    return scope == 0 ? absl::Span<const float>() : absl::MakeConstSpan(scope_weights[scope][segment.number]);
  }
  Bm25Term Term(size_t t) const { return {term_weight[t], lengths}; }
  Bm25Term Phrase(size_t p) const { return {phrase_weight[p], lengths}; }
  // The term in a segment of the snapshot.
  std::optional<TermIndex> Find(const SegmentView& segment, size_t t) const {
    const TermIndex found = found_terms[segment.number][t];
    return found == kNoTerm ? std::nullopt : std::optional(found);
  }
  float Score(int64_t fixed) const { return static_cast<float>(static_cast<double>(fixed) * unit); }
};

BoundQuery BindQuery(ParsedQuery query, const IndexSnapshot& snapshot, const Bm25Options& bm25,
                     Deadline deadline, TypoTolerance typos = TypoTolerance::kOff);

// The words of a phrase, as it is, in a segment; empty when the segment lacks one of them.
std::vector<PhraseCursor::Word> PhraseWords(const SegmentView& segment, const BoundQuery& query,
                                            size_t phrase);
// Of one of the ways in which it may be written; empty when the segment lacks one of its words.
std::vector<PhraseCursor::Word> WordsOfWay(const SegmentView& segment, const BoundQuery& query,
                                           const BoundPhrase& way);
// Cursors over all the ways in which a phrase may be written that the segment may hold.
std::vector<PhraseCursor> PhraseCursors(const SegmentView& segment, const BoundQuery& query, size_t phrase);
// Whether it may be written in one way only, in every field, with its words at their places.
bool IsPlainPhrase(const QueryPhrase& phrase);

}  // namespace waymark
