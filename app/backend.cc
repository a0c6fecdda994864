#include "app/backend.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pipeline/engine.h"
#include "store/server_file.h"

namespace waymark {

bool IsLongCall(const std::string& method) {
  for (const char* name : {".ActivateRelease", ".RollbackRelease", ".VerifyModel", ".CreateCheckpoint",
                           ".ReportQueries", ".CheckData", ".UpdateSchema", ".DeleteItems",
                           ".StartExperiment", ".RampExperiment", ".StopExperiment", ".ReportExperiment"}) {
    if (absl::EndsWith(method, name)) return true;
  }
  return false;
}

absl::StatusOr<std::unique_ptr<Backend>> OpenBackend(const BackendOptions& options) {
  if (!options.server.empty()) {
    return MakeRemoteBackend({.grpc = options.server, .admin = ""}, options.timeout);
  }
  if (auto server = ReadServerFile(options.data); server.ok()) {
    return MakeRemoteBackend({.grpc = server->grpc_address, .admin = server->admin_address}, options.timeout);
  }
  if (!options.create && !std::filesystem::exists(std::filesystem::path(options.data) / "store")) {
    return absl::NotFoundError(absl::StrCat("there is no data folder at '", options.data,
                                            "'; `waymark import` and `waymark serve` make one"));
  }
  EngineOptions engine_options;
  engine_options.create = options.create;
  engine_options.keep_ease_fresh = false;
  engine_options.keep_suggestions = false;
  auto engine = Engine::Open(options.data, engine_options);
  if (!engine.ok()) return engine.status();
  return MakeLocalBackend(*std::move(engine), options.data, options.timeout);
}

}  // namespace waymark
