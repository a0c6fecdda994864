// Cuts a query into words, phrases, operators and parentheses (docs/queries.md). Any bytes are taken.
#pragma once
#include <string_view>

namespace waymark {

enum class QuerySign { kNone, kPlus, kMinus };

struct QueryToken {
  enum class Kind { kEnd, kWord, kPhrase, kOpen, kClose, kAnd, kOr, kNot };
  Kind kind = Kind::kEnd;
  std::string_view text;              // of words and phrases, without quotes and sign
  QuerySign sign = QuerySign::kNone;  // of words, phrases and opening parentheses
};

class QueryLexer {
 public:
  // `query` outlives the lexer.
  explicit QueryLexer(std::string_view query) : rest_(query) { Next(); }
  const QueryToken& token() const { return token_; }
  void Next();

 private:
  QuerySign ReadSign();
  std::string_view ReadPhrase(size_t opening_quote);
  std::string_view ReadWord();

  std::string_view rest_;
  QueryToken token_;
};

}  // namespace waymark
