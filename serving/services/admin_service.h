// AdminService without its transport: what the data folder holds, and checkpoints.
#pragma once
#include "absl/time/time.h"
#include "pipeline/engine.h"
#include "serving/method_registry.h"

namespace waymark {

// The engine must outlive the registry. `started`: since when the uptime counts.
void RegisterAdmin(Engine* engine, absl::Time started, MethodRegistry* registry);

}  // namespace waymark
