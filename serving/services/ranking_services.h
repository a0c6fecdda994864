// SearchService, RecommendService and RankService without their transport: three doors to one pipeline.
#pragma once
#include "pipeline/engine.h"
#include "serving/method_registry.h"

namespace waymark {

// The engine must outlive the registry.
void RegisterRanking(Engine* engine, MethodRegistry* registry);

}  // namespace waymark
