// From the words of a query to terms: what a word or phrase stands for in each field's analysis.
//
//   QueryWords words(parsing);
//   words.Word("wi-fi", {}, "", QueryWords::Role::kWish).node;   // either word, or both side by side, or
//   «wifi» ParsedQuery query = words.Take();
//
// Not thread-safe: belongs to one parsing.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "index/query_parser.h"

namespace waymark {

// What a word of a query became. A word of several terms has two forms: as one wish of many, and as it is
// wanted where all of its terms are.
struct WordNodes {
  std::optional<QueryNode> node;    // none: nothing is left of it, as of a stop word
  std::optional<QueryNode> wanted;  // none: `node`
  std::vector<QueryNode> also = {};
};

class QueryWords {
 public:
  explicit QueryWords(const QueryParsing& parsing) : parsing_(parsing) {}

  enum class Role { kWish, kWanted, kExcluded };
  // `marked`: how the last term is to be taken. `field`: empty: all.
  WordNodes Word(std::string_view text, const TermReading& marked, std::string_view field, Role role);
  std::optional<QueryNode> Phrase(std::string_view text, std::string_view field, int slop);
  // Of words that synonyms know: their terms, as they are.
  std::vector<uint32_t> Typed(std::string_view text);
  std::optional<QueryNode> Synonyms(std::vector<uint32_t> typed, std::string text,
                                    std::vector<QuerySynonyms::Other> others);
  // What two words that stand side by side are as one, where items hold that.
  struct Joined {
    std::string term, first, second;  // of both as one, and of each
  };
  std::optional<Joined> JoinedTerm(std::string_view first, std::string_view second) const;
  // The one word beside the two.
  std::optional<QueryNode> Aside(const Joined& joined);
  std::optional<QueryNode> JoinedSynonym(std::string_view first, std::string_view second,
                                         const Joined& joined);

  ParsedQuery& query() { return query_; }

 private:
  using TermAt = QueryPhrase::Word;
  // What stands together without blanks.
  struct Unit {
    std::vector<TermAt> words;  // with positions in the text
    std::vector<uint32_t> forms;
    std::optional<uint32_t> joined;
    uint32_t first = 0, parts = 0;  // position and number of its words, stop words too
    bool strict = false;
  };
  struct InAnalysis {
    uint32_t scope;
    const Analyzer* analyzer;
    std::vector<Unit> units;
    size_t words = 0;
    uint32_t end = 0;  // of the query's words: the position behind the last
  };
  enum class Exact { kNo, kYes };

  // Whether all that is looked for is in one analysis, whose words are words and nothing beside: the usual
  // case, which need not be slow.
  bool OneListOfWords(std::string_view field) const;
  std::vector<TermAt> ListWords(std::string_view text, const TermReading& reading, const TermReading& marked);
  std::optional<QueryNode> PhraseOfList(std::vector<TermAt> words, int slop);
  WordNodes WishesFor(const std::vector<TermAt>& words, Role role) const;
  uint32_t ScopeNumber(QueryScope scope);
  // In each analysis that the field, or all of them, have.
  std::vector<InAnalysis> Analyze(std::string_view text, const TermReading& reading,
                                  const TermReading& marked, std::string_view field, bool forms);
  InAnalysis AnalyzeIn(const Analyzer& analyzer, uint32_t scope, std::string_view text,
                       const TermReading& reading, const TermReading& marked, bool forms);
  // Of a term that the query has, as it is to be taken here; none: it has none such.
  std::optional<uint32_t> KnownNumber(std::string_view term, const TermReading& reading,
                                      uint32_t scope) const;
  // None: the query has too many terms.
  std::optional<uint32_t> NumberOf(std::string_view term, std::string_view typed, TermReading reading,
                                   uint32_t scope, bool aside = false);
  WordNodes PlainWord(const InAnalysis& in, bool phrase, Role role);
  WordNodes StandardWord(const InAnalysis& in, bool phrase, Role role);
  WordNodes UnitNodes(const InAnalysis& in, const Unit& unit, Role role);
  // One word in several analyses.
  WordNodes Alternates(const std::vector<InAnalysis>& in);
  std::optional<QueryNode> PhraseOf(const std::vector<InAnalysis>& in, int slop, Exact exact);
  void AddVersions(const InAnalysis& in, std::vector<QueryPhrase::Version>* versions);
  static QueryNode TermNode(uint32_t term) { return {QueryNode::Kind::kTerm, term, {}, {}, {}}; }
  static std::vector<QueryNode> FormNodes(const Unit& unit);

  const QueryParsing& parsing_;
  ParsedQuery query_;
  uint32_t next_position_ = 0;  // of the query's words
  // Of terms with the marks of their readings and scopes, of the first `mapped_` terms; none while they are
  // few.
  std::unordered_map<std::string, uint32_t> numbers_;
  size_t mapped_ = 0;
};

}  // namespace waymark
