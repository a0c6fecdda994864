// The options of `waymark serve`: from a JSON file, then from the command line, which counts more.
//
//   {"data": "DIR", "grpc": "127.0.0.1:7700", "http": "127.0.0.1:7780", "served_sample_rate": 0.05}
#pragma once
#include <string>

#include "absl/status/status.h"
#include "pipeline/engine.h"
#include "serving/server.h"

namespace waymark {

struct ServeConfig {
  std::string data;
  EngineOptions engine;
  ServerOptions server;
  absl::Duration shutdown_grace = absl::Seconds(10);
};

// INVALID_ARGUMENT names the key: one that is not known (with those that are), a value of another type or out
// of its range.
absl::Status ApplyConfig(const std::string& json, ServeConfig* config);
absl::Status ApplyConfigFile(const std::string& path, ServeConfig* config);

}  // namespace waymark
