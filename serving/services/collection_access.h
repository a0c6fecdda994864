// How handlers come to the collection that a request names. Reads of one that does not exist are NOT_FOUND;
// writes make it.
#pragma once
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "pipeline/engine.h"
#include "serving/call_context.h"
#include "serving/resource_name.h"

namespace waymark {

// Waits for what the token covers, when there is one.
absl::StatusOr<Collection*> OpenForRead(Engine* engine, const CollectionName& name,
                                        const std::string& consistency_token, const CallContext& context);
absl::StatusOr<Collection*> OpenForRead(Engine* engine, const std::string& parent,
                                        const std::string& consistency_token, const CallContext& context);
absl::StatusOr<Collection*> OpenForWrite(Engine* engine, const std::string& parent);

// The token that covers all that has been written so far.
std::string TokenOfNow(Engine* engine);

}  // namespace waymark
