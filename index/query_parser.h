// The query language (docs/queries.md): words, "phrases", AND OR NOT, + and -, parentheses.
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
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/analyzer.h"
#include "index/synonym_table.h"

namespace waymark {

inline constexpr size_t kMaxQueryBytes = 10 * 1024;
inline constexpr size_t kMaxQueryTerms = 1000;  // distinct ones; later ones are passed over, like stop words
// Places of a query that synonyms widen, and what one of them stands for; later ones are left out.
inline constexpr size_t kMaxWidened = 32, kMaxSynonyms = 50;
inline constexpr int kMaxQueryDepth = 50;  // of parentheses; deeper ones are passed over

struct QueryNode {
  enum class Kind { kTerm, kPhrase, kSynonyms, kGroup };
  Kind kind = Kind::kGroup;
  uint32_t index = 0;  // into ParsedQuery::terms, phrases or synonyms
  // Of a group. It matches what all of `must` match and none of `must_not`; without any `must`, at least one
  // of `should`. A group with neither is never in a parsed query.
  std::vector<QueryNode> must, should, must_not;
};

struct QueryPhrase {
  struct Word {
    uint32_t term;    // into ParsedQuery::terms
    uint32_t offset;  // position in the phrase, 0 for the first word
  };
  std::vector<Word> words;  // at least two
};

// Words of the query, side by side, that synonyms know: what holds one of the others counts as holding them.
struct QuerySynonyms {
  struct Other {
    std::shared_ptr<const SynonymGroup> group;
    const SynonymPhrase* phrase;
  };
  std::vector<uint32_t> typed;  // into ParsedQuery::terms; at least one
  bool all = false;             // the typed words match together only
  std::string text;             // as they were typed
  std::vector<Other> others;    // at least one; by group, each phrase once
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

struct ParsedQuery {
  std::vector<std::string> terms;     // analysed, in the order of the query; distinct, but for their readings
  std::vector<TermReading> readings;  // [terms]
  std::vector<QueryPhrase> phrases;
  std::vector<QuerySynonyms> synonyms;  // each stands in one place of the query
  // How often the query asks for the term as a word of its own, or for the phrase; 0 where only to exclude
  // it, or where synonyms stand beside it.
  std::vector<int> term_times, phrase_times;
  // The words that are asked for, as they follow each other in the query, also those that come again.
  // Positions count stop words too.
  struct Place {
    uint32_t term, position;
  };
  std::vector<Place> sequence;
  std::vector<bool> asked;        // [term]: asked for as a word, within a phrase or beside synonyms
  std::optional<QueryNode> root;  // none: nothing matches
};

// `synonyms`: null: none.
ParsedQuery ParseQuery(std::string_view query, const Analyzer& analyzer, bool match_all,
                       const SynonymView* synonyms = nullptr);

// What widened the query, in its order.
std::vector<SynonymUse> SynonymsUsed(const ParsedQuery& query);

}  // namespace waymark
