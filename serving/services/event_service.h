// EventService without its transport.
#pragma once
#include <memory>

#include "absl/status/statusor.h"
#include "pipeline/engine.h"
#include "serving/method_registry.h"
#include "serving/services/stream_sessions.h"
#include "waymark/v1/event.pb.h"

namespace waymark {

// The engine must outlive the registry.
void RegisterEvents(Engine* engine, MethodRegistry* registry);

using EventImport = ImportSession<v1::ImportEventsRequest, v1::ImportEventsResponse>;
std::unique_ptr<EventImport> MakeEventImport(Engine* engine);
absl::StatusOr<std::unique_ptr<ExportCursor<v1::Event>>> MakeEventExport(
    Engine* engine, const v1::ExportEventsRequest& request, const CallContext& context);

}  // namespace waymark
