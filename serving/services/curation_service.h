// CurationService without its transport: synonyms and query rules.
#pragma once
#include "pipeline/engine.h"
#include "serving/method_registry.h"

namespace waymark {

// The engine must outlive the registry.
void RegisterCuration(Engine* engine, MethodRegistry* registry);

}  // namespace waymark
