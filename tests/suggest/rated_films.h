// The 36,273 films of wikipedia-movies as what a list is made from; their weight is how often
// ml-latest-small rates them.
#pragma once
#include <vector>

#include "suggest/completion_list.h"

namespace waymark::tests {

// Items are numbered in the order of the files.
std::vector<CompletionSource> RatedFilms();

}  // namespace waymark::tests
