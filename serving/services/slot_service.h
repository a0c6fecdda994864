// Content slots of CurationService: variants, which of them is shown, and what a request gets.
#pragma once
#include "pipeline/engine.h"
#include "serving/experiment_host.h"
#include "serving/method_registry.h"

namespace waymark {

void RegisterSlots(Engine* engine, ExperimentHost* host, MethodRegistry* registry);

}  // namespace waymark
