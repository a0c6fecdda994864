// The end of `search` and `recommend`: the list that came back, for people or as JSON.
#pragma once
#include <string>

#include "app/backend.h"
#include "waymark/v1/recommend.pb.h"
#include "waymark/v1/search.pb.h"

namespace waymark {

// Asks the schema for what to show.
int PrintAnswer(const v1::SearchResponse& response, const std::string& parent, bool json, Backend* backend);
int PrintAnswer(const v1::RecommendResponse& response, const std::string& parent, bool json,
                Backend* backend);

}  // namespace waymark
