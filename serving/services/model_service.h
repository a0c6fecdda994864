// ModelService without its transport: the registry of model packages.
#pragma once
#include <memory>

#include "absl/status/statusor.h"
#include "pipeline/engine.h"
#include "serving/method_registry.h"
#include "serving/services/stream_sessions.h"
#include "waymark/v1/model.pb.h"

namespace waymark {

// The engine must outlive the registry.
void RegisterModels(Engine* engine, MethodRegistry* registry);

void ToMessage(const storage::ModelRecord& record, v1::Model* model);

// Packages arrive in DATA/incoming, in a folder each, and leave it when the stream ends, however it ends.
using ModelImport = ImportSession<v1::ImportModelRequest, v1::Model>;
std::unique_ptr<ModelImport> MakeModelImport(Engine* engine);
// Removes what a crash has left in DATA/incoming. Called before a server takes calls.
absl::Status RemoveIncomingModels(const std::filesystem::path& data);

}  // namespace waymark
