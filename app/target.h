// Where a command works: a data folder or a server, and which tenant and collection of it.
#pragma once
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "app/backend.h"

namespace CLI {
class App;
}

namespace waymark {

struct Target {
  std::string data, server;
  std::string tenant = "default", collection = "default";
  bool json = false;
  double timeout_seconds = 60;
};

// --data, --server, --tenant, --collection, --json, --timeout.
void AddTargetOptions(CLI::App* command, Target* target);

// tenants/{tenant}/collections/{collection}
std::string Parent(const Target& target);

enum class Access { kRead, kWrite, kCreate };
absl::StatusOr<std::unique_ptr<Backend>> OpenTarget(const Target& target, Access access);

}  // namespace waymark
