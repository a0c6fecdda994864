// Stage 9's material: what one ranked candidate looks like in an answer, and the record of what was served.
#pragma once
#include <vector>

#include "absl/types/span.h"
#include "candidates/request_context.h"
#include "pipeline/rank_stage.h"
#include "pipeline/request.h"
#include "waymark/storage/models.pb.h"

namespace waymark {

// The item with the requested fields only (all when none are named; none for Rank).
storage::ItemRecord VisibleRecord(const PipelineRequest& request, const storage::ItemRecord& record);

// Heads, explanation and the sources that found the candidate.
void Describe(const RankedCandidate& candidate, RankedItem* item);

// Without candidates and features. `details`: the ranked list the page was cut from; empty on later pages.
storage::ServeRecord MakeServeRecord(const RequestContext& context, const PipelineResponse& response,
                                     absl::Span<const RankedCandidate> details);

}  // namespace waymark
