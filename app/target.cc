#include "app/target.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "app/option_checks.h"

namespace waymark {

void AddTargetOptions(CLI::App* command, Target* target, std::function<bool()> needless) {
  const char* group = "Where";
  auto* data =
      command->add_option("-d,--data", target->data,
                          "data folder; a running server that has it open is used (else $WAYMARK_DATA)");
  data->type_name("DIR")->group(group);
  auto* server = command->add_option("-s,--server", target->server, "gRPC address of a server elsewhere");
  server->type_name("HOST:PORT")->group(group)->excludes(data);
  command->add_option("--tenant", target->tenant, "tenant")
      ->capture_default_str()
      ->type_name("NAME")
      ->group(group);
  command->add_option("--collection", target->collection, "collection or alias")
      ->capture_default_str()
      ->type_name("NAME")
      ->group(group);
  command->add_option("--timeout", target->timeout_seconds, "seconds to wait for one answer")
      ->capture_default_str()
      ->check(OverZero())
      ->type_name("S")
      ->group(group);
  command->add_flag("--json", target->json, "print one JSON document");
  command->parse_complete_callback([target, needless = std::move(needless)] {
    const char* environment = std::getenv("WAYMARK_DATA");
    if (target->data.empty() && target->server.empty() && environment != nullptr) target->data = environment;
    if (target->data.empty() && target->server.empty() && (needless == nullptr || !needless()))
      throw CLI::RequiredError("--data DIR or --server HOST:PORT");
  });
}

std::string Parent(const Target& target) {
  return absl::StrCat("tenants/", target.tenant, "/collections/", target.collection);
}

absl::StatusOr<std::unique_ptr<Backend>> OpenTarget(const Target& target, Access access) {
  BackendOptions options;
  options.data = target.data;
  options.server = target.server;
  options.create = access == Access::kCreate;
  options.timeout = absl::Seconds(target.timeout_seconds);
  return OpenBackend(options);
}

}  // namespace waymark
