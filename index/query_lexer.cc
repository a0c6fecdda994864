#include "index/query_lexer.h"

#include "index/letters.h"

namespace waymark {
namespace {

// Bytes of the quotation mark that `text` begins with, 0 for none. Word processors and phones type curly
// ones.
size_t QuoteLength(std::string_view text) {
  if (text.starts_with('"')) return 1;
  for (std::string_view curly : {"\u201C", "\u201D", "\u201E"}) {
    if (text.starts_with(curly)) return curly.size();
  }
  return 0;
}

bool EndsWord(std::string_view text) {
  return IsSpace(text[0]) || text[0] == '(' || text[0] == ')' || QuoteLength(text) > 0;
}

}  // namespace

// A sign stands directly before what it belongs to; of several the last one counts. A sign by itself means
// nothing.
QuerySign QueryLexer::ReadSign() {
  QuerySign sign = QuerySign::kNone;
  while (!rest_.empty() && (rest_[0] == '+' || rest_[0] == '-')) {
    sign = rest_[0] == '+' ? QuerySign::kPlus : QuerySign::kMinus;
    rest_.remove_prefix(1);
  }
  return rest_.empty() || IsSpace(rest_[0]) || rest_[0] == ')' ? QuerySign::kNone : sign;
}

std::string_view QueryLexer::ReadPhrase(size_t opening_quote) {
  rest_.remove_prefix(opening_quote);
  size_t end = 0;
  while (end < rest_.size() && QuoteLength(rest_.substr(end)) == 0) ++end;
  const std::string_view phrase = rest_.substr(0, end);  // a quote that is not closed ends with the query
  rest_.remove_prefix(end);
  rest_.remove_prefix(rest_.empty() ? 0 : QuoteLength(rest_));
  return phrase;
}

std::string_view QueryLexer::ReadWord() {
  size_t end = 0;
  while (end < rest_.size() && !EndsWord(rest_.substr(end))) ++end;
  const std::string_view word = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return word;
}

void QueryLexer::Next() {
  token_ = {};
  while (token_.kind == QueryToken::Kind::kEnd) {
    while (!rest_.empty() && IsSpace(rest_[0])) rest_.remove_prefix(1);
    if (rest_.empty()) return;
    const bool bare_sign_possible = rest_[0] == '+' || rest_[0] == '-';
    token_.sign = ReadSign();
    if (bare_sign_possible && token_.sign == QuerySign::kNone) continue;
    if (const size_t quote = QuoteLength(rest_); quote > 0) {
      token_.kind = QueryToken::Kind::kPhrase;
      token_.text = ReadPhrase(quote);
    } else if (rest_[0] == '(' || rest_[0] == ')') {
      token_.kind = rest_[0] == '(' ? QueryToken::Kind::kOpen : QueryToken::Kind::kClose;
      rest_.remove_prefix(1);
    } else {
      token_.kind = QueryToken::Kind::kWord;
      token_.text = ReadWord();
      if (token_.sign != QuerySign::kNone) return;
      if (token_.text == "AND") token_.kind = QueryToken::Kind::kAnd;
      if (token_.text == "OR") token_.kind = QueryToken::Kind::kOr;
      if (token_.text == "NOT") token_.kind = QueryToken::Kind::kNot;
    }
  }
}

}  // namespace waymark
