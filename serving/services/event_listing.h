// Events in log order, or of one user from the newest back: pages of ListEvents, chunks of an export.
#pragma once
#include "absl/status/status.h"
#include "pipeline/engine.h"
#include "serving/call_context.h"
#include "waymark/v1/event.pb.h"

namespace waymark {

absl::Status ListEvents(Engine* engine, const v1::ListEventsRequest& request,
                        v1::ListEventsResponse* response, const CallContext& context);

}  // namespace waymark
