// What guardrails are about: how an answer went, as the server sees it.
#pragma once
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "catalog/catalog.h"
#include "experiment/decisions/guardrail.h"
#include "pipeline/request.h"

namespace waymark {

// None: an error of the caller's, which says nothing of the release.
std::optional<ServedAnswer> MeasureAnswer(const Catalog& catalog,
                                          const absl::StatusOr<PipelineResponse>& answer,
                                          absl::Duration latency);

}  // namespace waymark
