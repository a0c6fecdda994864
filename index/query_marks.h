// What stands on a word of a query: marks behind it, and a condition on a field.
#pragma once
#include <string>
#include <string_view>

#include "index/query_parser.h"

namespace waymark {

// Takes word~, word~1, word~2 and word* apart; the marks go from `text`.
TermReading ReadWordMarks(std::string_view* text);

// Whether the text behind a field's colon is a range: 1990..1999, <1990.
bool IsRange(std::string_view text);
// What «field:text» keeps, as docs/filters.md has it.
std::string FilterOf(std::string_view field, std::string_view text, bool phrase);

// Whether both take a term in the same way. Words as they stand and words within quotation marks do: they
// are one term, which then is not corrected.
bool SameMarks(const TermReading& a, const TermReading& b);
// The same for terms that are taken in the same way, in the same scope, and for no others.
std::string TermKey(std::string_view term, const TermReading& reading, uint32_t scope);

}  // namespace waymark
