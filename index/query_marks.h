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

}  // namespace waymark
