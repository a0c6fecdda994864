// UserService without its transport: typed attributes, the live state of a user, erasure.
#pragma once
#include "pipeline/engine.h"
#include "serving/method_registry.h"

namespace waymark {

// The engine must outlive the registry.
void RegisterUsers(Engine* engine, MethodRegistry* registry);

}  // namespace waymark
