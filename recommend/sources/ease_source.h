// The closed-form autoencoder over the decayed history; small catalogues only.
#pragma once
#include <memory>

#include "candidates/candidate_source.h"
#include "recommend/ease.h"

namespace waymark {

std::unique_ptr<CandidateSource> MakeEaseSource(std::shared_ptr<const Ease> ease);

}  // namespace waymark
