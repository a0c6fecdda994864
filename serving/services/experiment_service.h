// ExperimentService without its transport: what is compared, and what is decided.
#pragma once
#include "pipeline/engine.h"
#include "serving/experiment_host.h"
#include "serving/method_registry.h"

namespace waymark {

// Engine and host must outlive the registry.
void RegisterExperiments(Engine* engine, ExperimentHost* host, MethodRegistry* registry);

}  // namespace waymark
