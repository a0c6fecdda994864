// «did you mean»: the known name that a mistyped one is closest to.
//
//   NearestName("yaer", {"title", "year"})   // "year"
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace waymark {

// By optimal string alignment distance (insertions, deletions, replacements, swaps of neighbours) without
// case; at most a third of the name's length, at least 1. Empty: none is near. Ties: the first.
std::string NearestName(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace waymark
