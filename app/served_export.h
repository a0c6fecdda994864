// The lists that were served, with text ids.
#pragma once
#include <functional>
#include <string>

#include "app/backend.h"
#include "store/ids.h"

namespace waymark {

// Oldest first, one JSON document a list. What a running server has not written yet is not among them.
// INVALID_ARGUMENT: no folder, but a server elsewhere.
absl::Status ExportServed(Backend* backend, const std::string& data, const CollectionName& name,
                          const std::function<absl::Status(const std::string& line)>& sink);

}  // namespace waymark
