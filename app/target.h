// Where a command works: a data folder or a server, and which tenant and collection of it.
#pragma once
#include <functional>
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
// `needless`: whether what else was given takes no target; null: one is always wanted.
void AddTargetOptions(CLI::App* command, Target* target, std::function<bool()> needless = nullptr);

// tenants/{tenant}/collections/{collection}
std::string Parent(const Target& target);

enum class Access { kRead, kWrite, kCreate };
absl::StatusOr<std::unique_ptr<Backend>> OpenTarget(const Target& target, Access access);

}  // namespace waymark
