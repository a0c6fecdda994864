// CatalogService without its transport: items, schema, collections and aliases.
#pragma once
#include <memory>

#include "absl/status/statusor.h"
#include "pipeline/engine.h"
#include "serving/method_registry.h"
#include "serving/services/stream_sessions.h"
#include "waymark/v1/catalog.pb.h"

namespace waymark {

// The engine must outlive the registry.
void RegisterCatalog(Engine* engine, MethodRegistry* registry);

using ItemImport = ImportSession<v1::ImportItemsRequest, v1::ImportItemsResponse>;
std::unique_ptr<ItemImport> MakeItemImport(Engine* engine);
absl::StatusOr<std::unique_ptr<ExportCursor<v1::Item>>> MakeItemExport(Engine* engine,
                                                                       const v1::ExportItemsRequest& request,
                                                                       const CallContext& context);

}  // namespace waymark
