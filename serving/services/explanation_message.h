// How a keyword score came about, as the API says it.
#pragma once
#include "index/score_explanation.h"
#include "waymark/v1/keyword_explanation.pb.h"

namespace waymark {

void ToMessage(const ScoreExplanation& explanation, v1::KeywordExplanation* message);

}  // namespace waymark
