// The words of a query as rules see them: analysed, in order, without operators.
//
//   QueryTerms("running \"shoes\" -cheap fast", analyzer);   // "run", "shoe", "", "fast"
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "index/analyzer.h"

namespace waymark {

// Stop words are left out. What is excluded is not there: it leaves an empty text, past which no rule reads
// on.
std::vector<std::string> QueryTerms(std::string_view query, const Analyzer& analyzer);

}  // namespace waymark
