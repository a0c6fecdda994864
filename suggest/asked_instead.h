// What others asked when they meant what was typed: the past query that most people asked of those that are a
// few typing errors away.
//
//   AskedInstead(queries, "star wasr", deadline);   // "star wars"
//
// Thread-safe.
#pragma once
#include <string>
#include <string_view>

#include "candidates/deadline.h"
#include "suggest/suggestion_answer.h"

namespace waymark {

// Empty: others asked just this, or nothing that is near. Past queries find something and are not misspelled
// (suggest/past_queries.h).
std::string AskedInstead(const QueryList& queries, std::string_view query, Deadline deadline);

}  // namespace waymark
