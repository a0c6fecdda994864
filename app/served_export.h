// The lists that were served, with text ids.
#pragma once
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "app/backend.h"
#include "store/ids.h"

namespace waymark {

// Oldest first, one JSON document a list. What a running server has not written yet is not among them.
// INVALID_ARGUMENT: no folder, but a server elsewhere.
absl::Status ExportServed(Backend* backend, const std::string& data, const CollectionName& name,
                          const std::function<absl::Status(const std::string& line)>& sink);

struct DecisionOptions {
  std::string event;                        // the name of the type that rewards
  absl::Duration within = absl::Hours(24);  // of the list
};
struct DecisionCounts {
  int64_t lists = 0;    // that explored
  int64_t younger = 0;  // of them, left out: their time is not over
};
// The places of lists that explored, one JSON document each: request, time, user, surface, release, arm,
// place (from 0), item, the chances that ServedList names, and `reward`: whether the item had an event of the
// type that carries the list's request, in time. INVALID_ARGUMENT: as above; no such type, with those that
// there are.
absl::StatusOr<DecisionCounts> ExportDecisions(
    Backend* backend, const std::string& data, const CollectionName& name, const DecisionOptions& options,
    const std::function<absl::Status(const std::string& line)>& sink);

}  // namespace waymark
