// Items in the order of their ordinals: pages of ListItems, chunks of an export.
#pragma once
#include "absl/status/status.h"
#include "pipeline/engine.h"
#include "serving/call_context.h"
#include "waymark/v1/catalog.pb.h"

namespace waymark {

absl::Status ListItems(Engine* engine, const v1::ListItemsRequest& request, v1::ListItemsResponse* response,
                       const CallContext& context);

}  // namespace waymark
