// What a bound query finds in a random corpus, by looking at every word of every document.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "index/bound_query.h"
#include "index/snapshot_query.h"
#include "tests/index/random_corpus.h"

namespace waymark::tests {

using Hits = std::vector<std::pair<FixedScore, ItemOrdinal>>;

// "w7": 7.
int WordOf(const std::string& text);

// Of all documents that match and may be shown, best first.
Hits BruteForce(const RandomCorpus& corpus, const BoundQuery& bound, const SnapshotQuery& query);

}  // namespace waymark::tests
