// Cuts a query into words, phrases, operators and parentheses (docs/queries.md). Any bytes are taken.
#pragma once
#include <string_view>

#include "index/query_fields.h"

namespace waymark {

enum class QuerySign { kNone, kPlus, kMinus };

inline constexpr int kMaxSlop = 50;
inline constexpr float kMinBoost = 0.01f, kMaxBoost = 100;

struct QueryToken {
  enum class Kind { kEnd, kWord, kPhrase, kOpen, kClose, kAnd, kOr, kNot };
  Kind kind = Kind::kEnd;
  std::string_view text;              // of words and phrases, without quotes, sign, field and boost
  QuerySign sign = QuerySign::kNone;  // of words, phrases and opening parentheses
  std::string_view field;             // before the colon of words, phrases and opening parentheses
  std::string_view written;           // a word with its field and boost
  float boost = 1;                    // of words, phrases and closing parentheses: word^2
  int slop = 0;                       // of phrases: "two words"~3
};

class QueryLexer {
 public:
  // `query` and `fields` (null: a colon means nothing) outlive the lexer.
  explicit QueryLexer(std::string_view query, const QueryFields* fields = nullptr)
      : rest_(query), fields_(fields) {
    Next();
  }
  const QueryToken& token() const { return token_; }
  // Nothing follows the token; false also before blanks at the end.
  bool at_last() const { return rest_.empty(); }
  void Next();

 private:
  QuerySign ReadSign();
  std::string_view ReadField();
  std::string_view ReadPhrase(size_t opening_quote);
  std::string_view ReadWord();
  // ~3 and ^2 behind a phrase, ^2 behind a closing parenthesis.
  void ReadMarks(bool slop);

  std::string_view rest_;
  const QueryFields* fields_;
  QueryToken token_;
};

}  // namespace waymark
