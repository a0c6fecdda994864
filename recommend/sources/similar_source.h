// Items like the ones that are looked at or leant towards (context and positive items), away from negative
// ones:
//   score = largest cosine to such an item - half the largest positive cosine to a negative item.
// Without a retriever, items that are co-visited with them, so that "like this one" works from the first
// events on.
#pragma once
#include <memory>
#include <vector>

#include "candidates/candidate_source.h"
#include "recommend/behaviour_counts.h"
#include "recommend/vector_index.h"

namespace waymark {

// Context items, then positive items; each once, at most 20.
std::vector<ItemOrdinal> AnchorItems(const RequestContext& context);

// `vectors` may be null.
std::unique_ptr<CandidateSource> MakeSimilarSource(std::shared_ptr<const BehaviourCounts> counts,
                                                   std::shared_ptr<const VectorIndex> vectors);

}  // namespace waymark
