// AdminService.ReportQueries without its transport: which queries find nothing, find little, or take long.
#pragma once
#include "pipeline/engine.h"
#include "serving/method_registry.h"

namespace waymark {

// The engine must outlive the registry.
void RegisterQueryReport(Engine* engine, MethodRegistry* registry);

}  // namespace waymark
