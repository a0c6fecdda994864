// SearchService, RecommendService and RankService without their transport: three doors to one pipeline.
#pragma once
#include "pipeline/engine.h"
#include "serving/experiment_host.h"
#include "serving/method_registry.h"

namespace waymark {

// Engine and host must outlive the registry; without a host no experiments are served.
void RegisterRanking(Engine* engine, ExperimentHost* host, MethodRegistry* registry);

}  // namespace waymark
