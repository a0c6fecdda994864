#include "index/query_lexer.h"

#include <algorithm>
#include <charconv>

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

// Bytes of the number that `text` begins with: digits, and a point with digits. 0: none.
size_t NumberLength(std::string_view text) {
  const auto digits_end = [text](size_t from) {
    return std::min(text.find_first_not_of("0123456789", from), text.size());
  };
  const size_t whole = digits_end(0);
  if (whole == 0) return 0;
  if (whole + 1 >= text.size() || text[whole] != '.') return whole;
  const size_t part = digits_end(whole + 1);
  return part > whole + 1 ? part : whole;
}

float BoostOf(std::string_view number) {
  float boost = 1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), boost);
  return error == std::errc::result_out_of_range ? kMaxBoost : std::clamp(boost, kMinBoost, kMaxBoost);
}

// Takes ^2 off the end of a word; 1 where there is none.
float TakeBoost(std::string_view* word) {
  const size_t caret = word->rfind('^');
  if (caret == word->npos || caret == 0) return 1;
  const std::string_view number = word->substr(caret + 1);
  if (number.empty() || NumberLength(number) != number.size()) return 1;
  word->remove_suffix(number.size() + 1);
  return BoostOf(number);
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

// A field's name and its colon stand directly before what is looked for in it.
std::string_view QueryLexer::ReadField() {
  if (fields_ == nullptr || rest_.find(':') == rest_.npos) return {};
  size_t colon = 0;
  while (colon < rest_.size() && rest_[colon] != ':' && !EndsWord(rest_.substr(colon))) ++colon;
  if (colon == 0 || colon + 1 >= rest_.size() || rest_[colon] != ':') return {};
  if (IsSpace(rest_[colon + 1]) || rest_[colon + 1] == ')') return {};
  const std::string_view name = rest_.substr(0, colon);
  if (!fields_->Searched(name) && !fields_->Filtered(name)) return {};
  rest_.remove_prefix(colon + 1);
  return name;
}

void QueryLexer::ReadMarks(bool slop) {
  for (int marks = 0; marks < 2 && rest_.size() > 1; ++marks) {
    const bool boost = rest_[0] == '^';
    if (!boost && !(slop && rest_[0] == '~')) return;
    std::string_view number = rest_.substr(1);
    number = number.substr(0, NumberLength(number));
    if (!boost) number = number.substr(0, number.find('.'));
    if (number.empty()) return;
    if (boost) {
      token_.boost = BoostOf(number);
    } else {
      token_.slop = number.size() > 2 ? kMaxSlop : std::min(std::stoi(std::string(number)), kMaxSlop);
    }
    rest_.remove_prefix(number.size() + 1);
  }
}

void QueryLexer::Next() {
  token_ = {};
  while (token_.kind == QueryToken::Kind::kEnd) {
    while (!rest_.empty() && IsSpace(rest_[0])) rest_.remove_prefix(1);
    if (rest_.empty()) return;
    const bool bare_sign_possible = rest_[0] == '+' || rest_[0] == '-';
    token_.sign = ReadSign();
    if (bare_sign_possible && token_.sign == QuerySign::kNone) continue;
    const std::string_view before_field = rest_;
    token_.field = ReadField();
    if (const size_t quote = QuoteLength(rest_); quote > 0) {
      token_.kind = QueryToken::Kind::kPhrase;
      token_.text = ReadPhrase(quote);
      ReadMarks(/*slop=*/true);
    } else if (rest_[0] == '(' || rest_[0] == ')') {
      token_.kind = rest_[0] == '(' ? QueryToken::Kind::kOpen : QueryToken::Kind::kClose;
      rest_.remove_prefix(1);
      if (token_.kind == QueryToken::Kind::kClose) ReadMarks(/*slop=*/false);
    } else {
      token_.kind = QueryToken::Kind::kWord;
      token_.text = ReadWord();
      token_.written = before_field.substr(0, before_field.size() - rest_.size());
      token_.boost = TakeBoost(&token_.text);
      if (token_.sign != QuerySign::kNone || !token_.field.empty()) return;
      if (token_.text == "AND") token_.kind = QueryToken::Kind::kAnd;
      if (token_.text == "OR") token_.kind = QueryToken::Kind::kOr;
      if (token_.text == "NOT") token_.kind = QueryToken::Kind::kNot;
    }
  }
}

}  // namespace waymark
