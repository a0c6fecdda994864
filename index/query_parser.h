// The query language (docs/queries.md): words, "phrases", AND OR NOT, + and -, parentheses, field:word,
// boosts.
//
//   ParsedQuery q = ParseQuery("star \"death star\" -wars", analyzer, /*match_all=*/false);
//   ParseQuery("recieve~ relat*", analyzer, false).readings[1].kind;   // kPrefix
//   ParseQuery("running shoes", analyzer, false, &synonyms).synonyms[0].others[0].phrase->text;   //
//   "sneakers"
//
// Nothing is an error: quotes and parentheses that are not closed end with the query, operators without
// operands are passed over.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "index/field_analyzers.h"
#include "index/minimum_match.h"
#include "index/query_fields.h"
#include "index/synonym_table.h"

namespace waymark {

inline constexpr size_t kMaxQueryBytes = 10 * 1024;
inline constexpr size_t kMaxQueryTerms = 1000;  // distinct ones; later ones are passed over, like stop words
// Places of a query that synonyms widen, and what one of them stands for; later ones are left out.
inline constexpr size_t kMaxWidened = 32, kMaxSynonyms = 50;
inline constexpr int kMaxQueryDepth = 50;  // of parentheses; deeper ones are passed over
// Conditions on fields that are filtered («year:1990..»); later ones are taken as words.
inline constexpr size_t kMaxQueryConditions = 16;
// What a term's exact form counts for, of its idf, beside the stem.
inline constexpr float kFormShare = 0.25f;

struct QueryNode {
  enum class Kind { kTerm, kPhrase, kSynonyms, kGroup, kItems };
  Kind kind = Kind::kGroup;
  uint32_t index = 0;  // into ParsedQuery::terms, phrases, synonyms or items
  // Of a group. It matches what all of `must` match and none of `must_not`; without any `must`, at least one
  // of `should`. A group with neither is never in a parsed query.
  std::vector<QueryNode> must, should, must_not;
  // Of a group: what counts where it is held, and has no say in what matches (such as exact forms).
  std::vector<QueryNode> also = {};
  bool also_apart = false;  // some of `also` is held without what is wanted, too: words that were left out
  // Of a group: so many of `should` are wanted, also beside `must`; 0: one, or none beside `must`.
  uint32_t minimum = 0;
  float boost = 1;  // of all that it holds
};

struct QueryPhrase {
  struct Word {
    uint32_t term;    // into ParsedQuery::terms
    uint32_t offset;  // position in the phrase, 0 for the first word
  };
  // Another way in which it may be written: its parts as one word, or as another analysis has it.
  struct Version {
    std::vector<Word> words;  // at least one
    uint32_t scope = 0;
  };
  std::vector<Word> words;  // at least two, but where there are other versions
  uint32_t scope = 0;       // into ParsedQuery::scopes
  int slop = 0;             // places that its words may be moved
  std::vector<Version> others = {};
};

// Words of the query, side by side, that synonyms know: what holds one of the others counts as holding them.
struct QuerySynonyms {
  struct Other {
    std::shared_ptr<const SynonymGroup> group;  // null: nobody wrote it, such as two words as one
    const SynonymPhrase* phrase;
  };
  std::vector<uint32_t> typed;  // into ParsedQuery::terms; at least one
  bool all = false;             // the typed words match together only
  std::string text;             // as they were typed
  std::vector<Other> others;    // at least one; by group, each phrase once
  float boost = 1;
};

// How a term is to be taken.
struct TermReading {
  enum class Kind {
    kWord,    // a word as people type it: may be taken for misspelled
    kExact,   // within quotation marks, excluded, or known to synonyms: as it is
    kTypos,   // word~: all terms within `edits`
    kPrefix,  // word*: all terms that it begins
  };
  Kind kind = Kind::kWord;
  int edits = 0;      // of kTypos; 0: as many as words of its length may have, at least 1
  std::string typed;  // the word before it was cut to its stem
};

// Where a term is looked for; what is not set is everywhere.
struct QueryScope {
  std::optional<uint32_t> group = {};  // fields of an analysis (FieldAnalyzers::groups)
  std::string field = {};
  bool operator==(const QueryScope&) const = default;
};

// The same word as fields of another analysis have it.
struct QueryAlternate {
  std::string term;
  uint32_t scope;
};

// Of a query: most have so few terms that memory of their own costs more than what is done with them.
template <class T>
using OfTerms = absl::InlinedVector<T, 8>;

struct ParsedQuery {
  std::vector<std::string> terms;     // analysed, in the order of the query; distinct, but for their readings
  std::vector<TermReading> readings;  // [terms]
  OfTerms<uint32_t> term_scopes;      // [terms], into scopes
  std::vector<std::vector<QueryAlternate>> alternates;  // [terms]; shorter where later terms have none
  absl::InlinedVector<QueryScope, 1> scopes =
      absl::InlinedVector<QueryScope, 1>(1);  // the first is everywhere
  std::vector<QueryPhrase> phrases;
  std::vector<QuerySynonyms> synonyms;                // each stands in one place of the query
  std::vector<std::shared_ptr<const ItemSet>> items;  // of conditions on fields
  // How often the query asks for the term as a word of its own, or for the phrase; 0 where only to exclude
  // it, or where synonyms stand beside it.
  std::vector<int> term_times, phrase_times;
  // The words that are asked for, as they follow each other in the query, also those that come again.
  // Positions count stop words too.
  struct Place {
    uint32_t term, position;
  };
  OfTerms<Place> sequence;
  OfTerms<float> term_boost, phrase_boost;  // the same with boosts, and of terms that count beside others
  std::vector<bool> asked;                  // [term]: asked for as a word, within a phrase or beside synonyms
  // [term]: counts, but is no word of the query: an exact form, or another way in which its words are
  // written.
  OfTerms<bool> aside;
  // Plain words that what matches must hold, or some of them: what relaxing may leave out.
  struct WantedWord {
    std::string text;
    std::vector<uint32_t> terms;
  };
  std::vector<WantedWord> wanted;
  // Two words of the query that are also looked for as one: it counts for no more than both.
  struct JoinedWords {
    uint32_t joined;  // into terms
    std::string first, second;
  };
  std::vector<JoinedWords> joined;
  std::vector<std::shared_ptr<const SynonymPhrase>> own_phrases;  // of synonyms that nobody wrote
  std::optional<QueryNode> root;                                  // none: nothing matches

  absl::Span<const QueryAlternate> AlternatesOf(size_t t) const {
    return t < alternates.size() ? absl::MakeConstSpan(alternates[t]) : absl::Span<const QueryAlternate>();
  }
};

struct QueryParsing {
  const FieldAnalyzers* analyzers;
  bool match_all = false;
  const SynonymView* synonyms = nullptr;  // null: none
  const QueryFields* fields = nullptr;    // null: a colon means nothing
  MinimumMatch minimum = {};              // of a query without operators
  // Words, as they are typed, that need not match.
  absl::Span<const std::string> left_out = {};
  // Whether items hold a term: two words that stand side by side are then also looked for as one. Null: no.
  const std::function<bool(std::string_view term)>* known = nullptr;
};
ParsedQuery ParseQuery(std::string_view query, const QueryParsing& parsing);
// With one analysis for all fields. `synonyms`: null: none.
ParsedQuery ParseQuery(std::string_view query, const Analyzer& analyzer, bool match_all,
                       const SynonymView* synonyms = nullptr);

// What widened the query, in its order.
std::vector<SynonymUse> SynonymsUsed(const ParsedQuery& query);

}  // namespace waymark
