#include <signal.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "app/commands/commands.h"
#include "app/exit.h"
#include "app/serve_config.h"
#include "app/stop_signal.h"
#include "serving/server_log.h"

namespace waymark {
namespace serve_command {
namespace {

constexpr absl::Duration kCatchUpPatience = absl::Minutes(10);
constexpr absl::Duration kStopCheck = absl::Milliseconds(200);

struct Options {
  std::string data, grpc, http, admin, admin_http, config, log_level;
  bool insecure = false;
};

absl::Status MakeConfig(const Options& options, const CLI::App& command, ServeConfig* config) {
  if (!options.config.empty()) {
    if (auto status = ApplyConfigFile(options.config, config); !status.ok()) return status;
  }
  auto take = [&command](const char* name, const std::string& given, std::string* out) {
    if (command.count(name) > 0) *out = given;
  };
  take("--data", options.data, &config->data);
  take("--grpc", options.grpc, &config->server.grpc_address);
  take("--http", options.http, &config->server.http_address);
  take("--admin", options.admin, &config->server.admin_address);
  take("--admin-http", options.admin_http, &config->server.admin_http_address);
  take("--log-level", options.log_level, &config->server.log_level);
  if (options.insecure) config->server.insecure = true;
  if (config->data.empty()) {
    if (const char* environment = std::getenv("WAYMARK_DATA")) config->data = environment;
  }
  if (config->data.empty()) return absl::InvalidArgumentError("--data is required: the data folder");
  return absl::OkStatus();
}

void PrintAddresses(const Server& server, const std::string& data) {
  std::string text = absl::StrCat("waymark serves ", data, "\n  gRPC   ", server.grpc_address(), "\n");
  if (!server.http_address().empty()) absl::StrAppend(&text, "  HTTP   http://", server.http_address(), "\n");
  absl::StrAppend(&text, "  admin  ", server.admin_address(), "\n");
  if (!server.admin_http_address().empty())
    absl::StrAppend(&text, "  admin  http://", server.admin_http_address(), "\n");
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

// After a crash, or when something derived is made anew, searches would find less than there is: the server
// answers meanwhile, and says SERVING only afterwards. What cannot catch up (a full disk) does not keep it
// back for ever.
void CatchUp(Engine* engine, const StopSignal& stop) {
  const absl::Time patience = absl::Now() + kCatchUpPatience;
  for (Collection* collection : engine->Collections()) {
    absl::Status status;
    do {
      status = collection->CatchUp(Deadline::After(kStopCheck));
      if (status.ok()) status = collection->CatchUpSuggestions(Deadline::After(kStopCheck));
    } while (absl::IsDeadlineExceeded(status) && !stop.Requested() && absl::Now() < patience);
    if (!status.ok() && !stop.Requested()) {
      spdlog::warn("{}/{} serves before it has caught up: {}", collection->name().tenant,
                   collection->name().collection, std::string(status.message()));
    }
  }
}

int RunServe(const Options& options, const CLI::App& command) {
  ServeConfig config;
  if (auto status = MakeConfig(options, command, &config); !status.ok())
    return FailUsage(std::string(status.message()));
  signal(SIGPIPE, SIG_IGN);  // a client that hangs up
  StopSignal stop;
  LogProgramAsJson(config.server.log_level);
  auto engine = Engine::Open(config.data, config.engine);
  if (!engine.ok()) return Fail(engine.status());
  Server server(config.server);
  if (auto status = server.Start(engine->get()); !status.ok()) return Fail(status);
  CatchUp(engine->get(), stop);
  server.SetServing(true);
  PrintAddresses(server, config.data);
  stop.Wait();
  server.Shutdown(config.shutdown_grace);
  return kDone;
}

}  // namespace
}  // namespace serve_command

void AddServe(CLI::App* app, Run* run) {
  using namespace serve_command;
  CLI::App* command =
      AddCommand(app, "serve", "Answer searches and feeds over gRPC and HTTP until SIGTERM or Ctrl-C",
                 "  waymark serve --data DIR\n"
                 "  waymark serve --config waymark.json --http 127.0.0.1:8080");
  auto options = std::make_shared<Options>();
  const ServerOptions defaults;
  command->add_option("-d,--data", options->data, "data folder; made when it is missing (else $WAYMARK_DATA)")
      ->type_name("DIR");
  auto address = [command](const char* name, std::string* out, const std::string& what,
                           const std::string& usual) {
    command->add_option(name, *out, what + (usual.empty() ? "" : " [" + usual + "]"))->type_name("HOST:PORT");
  };
  address("--grpc", &options->grpc, "gRPC", defaults.grpc_address);
  address("--http", &options->http, "HTTP/JSON; empty: none", defaults.http_address);
  address("--admin", &options->admin, "gRPC for operators, with reflection", defaults.admin_address);
  address("--admin-http", &options->admin_http, "HTTP for operators", "none");
  command
      ->add_option("--config", options->config,
                   "JSON file with these and further options (docs/operations.md)")
      ->type_name("FILE");
  command->add_option("--log-level", options->log_level, "debug (every call), info, warn, error or off")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
      ->type_name("LEVEL");
  command->add_flag("--insecure", options->insecure,
                    "listen where other machines reach it, although there are neither keys nor TLS");
  command->callback([=] { *run = [options, command] { return RunServe(*options, *command); }; });
}

}  // namespace waymark
