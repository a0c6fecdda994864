// ExperimentService without its transport: what is compared, and what is decided.
#pragma once
#include <string>

#include "absl/status/statusor.h"
#include "pipeline/engine.h"
#include "serving/experiment_host.h"
#include "serving/method_registry.h"

namespace waymark {

// The collection's experiments, opened where they are not yet. NOT_FOUND: no such collection.
absl::StatusOr<HostedExperiments*> OpenExperiments(Engine* engine, ExperimentHost* host,
                                                   const std::string& parent, const CallContext& context);

// Engine and host must outlive the registry. Layers, and what is asked about decisions, are registered with
// it.
void RegisterExperiments(Engine* engine, ExperimentHost* host, MethodRegistry* registry);

// Of RegisterExperiments.
void RegisterLayers(Engine* engine, ExperimentHost* host, MethodRegistry* registry);
void RegisterExperimentAdvice(Engine* engine, ExperimentHost* host, MethodRegistry* registry);

}  // namespace waymark
