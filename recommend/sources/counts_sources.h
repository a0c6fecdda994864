// The sources that stand on counts alone: co-visited with the newest items, following the last item, popular
// of late. They need no model, so they are there from the first event on.
#pragma once
#include <memory>

#include "candidates/candidate_source.h"
#include "recommend/behaviour_counts.h"

namespace waymark {

std::unique_ptr<CandidateSource> MakeCovisitationSource(std::shared_ptr<const BehaviourCounts> counts);
std::unique_ptr<CandidateSource> MakeTransitionSource(std::shared_ptr<const BehaviourCounts> counts);
std::unique_ptr<CandidateSource> MakePopularitySource(std::shared_ptr<const BehaviourCounts> counts);

}  // namespace waymark
