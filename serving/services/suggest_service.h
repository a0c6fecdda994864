// SearchService.Suggest without its transport.
#pragma once
#include "pipeline/engine.h"
#include "serving/method_registry.h"

namespace waymark {

// The engine must outlive the registry.
void RegisterSuggest(Engine* engine, MethodRegistry* registry);

}  // namespace waymark
