// ReleaseService without its transport: what serves everybody.
#pragma once
#include "pipeline/engine.h"
#include "serving/method_registry.h"

namespace waymark {

// The engine must outlive the registry.
void RegisterReleases(Engine* engine, MethodRegistry* registry);

}  // namespace waymark
