// Nearest items to the user vector, by the retriever's own space.
#pragma once
#include <memory>

#include "candidates/candidate_source.h"
#include "recommend/vector_index.h"

namespace waymark {

std::unique_ptr<CandidateSource> MakeRetrieverSource(std::shared_ptr<const VectorIndex> vectors);

}  // namespace waymark
