// Which words of a query synonyms know.
#pragma once
#include <string_view>
#include <vector>

#include "index/query_lexer.h"
#include "index/query_parser.h"

namespace waymark {

struct SynonymMatch {
  size_t tokens = 0;  // words of the query, from here on; 0: synonyms do not know them
  std::vector<QuerySynonyms::Other> others;
};

// The longest run of plain words (without sign, mark or operator) from where the lexer stands.
SynonymMatch FindSynonyms(const QueryLexer& at, const Analyzer& analyzer, const SynonymView& synonyms);

// Of a word that stands alone, and is one term.
std::vector<QuerySynonyms::Other> FindSynonymsOfWord(std::string_view word, const Analyzer& analyzer,
                                                     const SynonymView& synonyms);

}  // namespace waymark
