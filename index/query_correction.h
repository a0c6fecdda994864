// «Did you mean»: a query with its misspelled words written as items have them.
//
// Thread-safe.
#pragma once
#include <string>
#include <string_view>

#include "index/bound_query.h"
#include "store/store.h"

namespace waymark {

// `text` with the words of bound.corrections replaced; empty: there are none. The terms of an index are
// stems: how a word is written is read from a few items that hold it, nearest to what was typed first.
std::string CorrectedQuery(std::string_view text, const BoundQuery& bound, const IndexSnapshot& snapshot,
                           const Store& store, Scope scope);

}  // namespace waymark
