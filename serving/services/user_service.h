// UserService without its transport: typed attributes, the live state of a user, erasure.
#pragma once
#include "pipeline/engine.h"
#include "serving/experiment_host.h"
#include "serving/method_registry.h"

namespace waymark {

// Engine and host must outlive the registry.
void RegisterUsers(Engine* engine, ExperimentHost* host, MethodRegistry* registry);

}  // namespace waymark
