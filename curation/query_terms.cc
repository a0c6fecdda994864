#include "curation/query_terms.h"

#include "index/query_lexer.h"

namespace waymark {
namespace {

using Kind = QueryToken::Kind;

// Passes over what stands in parentheses, the opening one being the lexer's token.
void SkipGroup(QueryLexer* lexer) {
  int open = 0;
  do {
    if (lexer->token().kind == Kind::kOpen) ++open;
    if (lexer->token().kind == Kind::kClose) --open;
    lexer->Next();
  } while (open > 0 && lexer->token().kind != Kind::kEnd);
}

}  // namespace

std::vector<std::string> QueryTerms(std::string_view query, const Analyzer& analyzer) {
  std::vector<std::string> words;
  TermList terms;
  bool negated = false;
  for (QueryLexer lexer(query); lexer.token().kind != Kind::kEnd;) {
    const QueryToken token = lexer.token();
    if (token.kind == Kind::kNot) {
      negated = !negated;
      lexer.Next();
      continue;
    }
    const bool excluded = (token.sign == QuerySign::kMinus) != negated;
    negated = false;
    if (excluded) {
      if (token.kind == Kind::kOpen) {
        SkipGroup(&lexer);
      } else {
        lexer.Next();
      }
      if (words.empty() || !words.back().empty()) words.emplace_back();
      continue;
    }
    if (token.kind == Kind::kWord || token.kind == Kind::kPhrase) {
      terms.Clear();
      analyzer.Analyze(token.text, 0, &terms);
      for (size_t i = 0; i < terms.size(); ++i) words.emplace_back(terms.term(i));
    }
    lexer.Next();
  }
  return words;
}

}  // namespace waymark
