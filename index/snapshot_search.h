// Searches and scores on one snapshot.
//
// Thread-safe.
#pragma once
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "candidates/candidate.h"
#include "candidates/deadline.h"
#include "index/index_snapshot.h"
#include "index/keyword_index.h"
#include "index/snapshot_query.h"
#include "index/synonym_table.h"

namespace waymark {

// The best of all matches, whichever algorithm finds them.
KeywordHits SearchSnapshot(const IndexSnapshot& snapshot, const SnapshotQuery& query, const Bm25Options& bm25,
                           size_t limit, Deadline deadline);

// The keyword signals of the candidates (candidates/signals.h). An item that the snapshot does not hold gets
// none; one that holds no word of the query has coverage 0 and no score.
void FillKeywordSignals(const IndexSnapshot& snapshot, const SnapshotQuery& query, const Bm25Options& bm25,
                        absl::Span<Candidate> candidates);

}  // namespace waymark
