// Which word of a query may go when too few items hold all that must be held: first one that nothing holds,
// then the one that most items hold, since it tells least.
//
//   while (too few hits) left_out.push_back(*NextLeftOut(bound, snapshot));
#pragma once
#include <optional>
#include <string>

#include "index/bound_query.h"

namespace waymark {

// Searches that relaxing takes at most; the last one wants the word that tells most, and nothing else.
inline constexpr size_t kMaxRelaxations = 8;

// Of bound.query.wanted, as it was typed; none: one is left, which stays.
std::optional<std::string> NextLeftOut(const BoundQuery& bound, const IndexSnapshot& snapshot);

}  // namespace waymark
