// Items whose titles hold all words of a query, those whose titles are nearest to being the query first: what
// somebody means who types a name. BM25 over all fields does not find «Star Wars» among 28,000 texts on
// stars.
//
// Thread-safe.
#pragma once
#include <vector>

#include "catalog/scored_item.h"
#include "index/snapshot_search.h"

namespace waymark {

// Postings of the rarest word that are walked at most, about .5 ms; a word in more items than that finds the
// first.
inline constexpr size_t kMaxTitlePostings = 1 << 16;

// By WordPlaces::TitleMatch(), then by BM25, which the answer's scores are, then by ordinal. None for queries
// with phrases, fields, conditions or excluded words, which the titles alone do not decide.
std::vector<ScoredItem> SearchTitles(const IndexSnapshot& snapshot, const SnapshotQuery& query,
                                     const Bm25Options& bm25, size_t limit, Deadline deadline);

}  // namespace waymark
