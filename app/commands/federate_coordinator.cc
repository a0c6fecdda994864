#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "app/commands/commands.h"
#include "app/exit.h"
#include "app/federation_options.h"
#include "app/option_checks.h"
#include "app/training_progress.h"
#include "serving/listen_address.h"
#include "serving/server_log.h"
#include "training/federated/model/federated_defaults.h"
#include "training/federated/rpc/coordinator_server.h"

namespace waymark {
namespace federate_coordinator_command {
namespace {

struct Options {
  CertificateOptions certificates;
  std::string listen = ":7800", state, items, package, version, rule = "fedavg", log_level = "info";
  uint64_t seed = 1;
  int rounds = 0, local_epochs = 0, rounds_an_epoch = 0, buckets = 0, hashes = 0, held_out = 1, width = 64,
      batch_tokens = 0;
  double learning_rate = 0, server_rate = 0, clip = 0, noise = 0, sampling_rate = 1, delta = 1e-5,
         dropout = 0;
  std::optional<double> table_factor;
  bool equal_weights = false;
  size_t quorum = 3, sites = 0;
  double gather_s = 5, stage_s = 30, training_s = 600, linger_s = 60;
};

federated::Plan PlanOf(const Options& options) {
  federated::Plan plan = DefaultPlan();
  (*plan.mutable_network())["width"] = options.width;
  plan.set_seed(options.seed);
  plan.set_rounds(options.rounds);
  plan.set_local_epochs(options.local_epochs);
  plan.set_rounds_an_epoch(options.rounds_an_epoch);
  plan.set_batch_tokens(options.batch_tokens);
  plan.set_buckets(options.buckets);
  plan.set_hashes(options.hashes);
  plan.set_held_out(options.held_out);
  plan.set_learning_rate(options.learning_rate);
  plan.set_dropout(options.dropout);
  plan.set_server_rate(options.server_rate);
  plan.set_update_clip(options.clip);
  plan.set_noise(options.noise);
  plan.set_sampling_rate(options.sampling_rate);
  plan.set_delta(options.delta);
  plan.set_equal_weights(options.equal_weights || options.noise > 0);
  if (options.table_factor) {
    plan.set_table_factor(*options.table_factor);
  } else if (options.rule == "fedadam") {
    plan.set_table_factor(1);
  }
  plan.set_rule(options.rule == "fedadam" ? federated::Plan::FEDADAM : federated::Plan::FEDAVG);
  return plan;
}

int RunCoordinator(const Options& options) {
  if (options.items.empty() != options.package.empty()) {
    return FailUsage("--items FILE and --package FOLDER go together: the package names these items");
  }
  std::vector<std::string> ids;
  if (!options.items.empty()) {
    auto read = ReadItemIds(options.items);
    if (!read.ok()) return Fail(read.status());
    ids = *std::move(read);
    if (std::filesystem::exists(options.package)) {
      return Fail(absl::AlreadyExistsError(absl::StrCat("--package: ", options.package, " exists already")));
    }
  }
  auto address = ParseListenAddress(options.listen, "--listen");
  if (!address.ok()) return FailUsage(std::string(address.status().message()));
  auto identity = ReadIdentity(options.certificates, TlsRole::kCoordinator);
  if (!identity.ok()) return Fail(identity.status());
  const std::string listen = FormatListenAddress(*address);
  if (auto status = CheckCanListen(listen, "--listen"); !status.ok()) return Fail(status);

  LogProgramAsJson(options.log_level);
  StopBySignal stop;
  CoordinatorOptions rounds;
  rounds.plan = PlanOf(options);
  rounds.state_folder = options.state;
  rounds.quorum = options.quorum;
  rounds.expected_sites = options.sites;
  rounds.gather = absl::Seconds(options.gather_s);
  rounds.stage_deadline = absl::Seconds(options.stage_s);
  rounds.training_deadline = absl::Seconds(options.training_s);
  auto coordinator = Coordinator::Open(std::move(rounds));
  if (!coordinator.ok()) return Fail(coordinator.status());
  auto server =
      CoordinatorServer::Start(coordinator->get(), {listen, *identity, absl::Seconds(options.linger_s)});
  if (!server.ok()) return Fail(server.status());
  std::printf("the coordinator listens on port %d, session %s, round %d of %d\n", (*server)->port(),
              (*coordinator)->plan().session().c_str(), (*coordinator)->finished_rounds() + 1,
              (*coordinator)->plan().rounds());
  std::fflush(stdout);
  const absl::Status finished = (*server)->WaitUntilFinished(stop.token());
  if (absl::IsCancelled(finished)) {
    Say(absl::StrCat("stopped after round ", (*coordinator)->finished_rounds(),
                     "; the same command goes on from there"));
    return kFailed;
  }
  if (!finished.ok()) return Fail(finished);
  std::printf("%d rounds are done", (*coordinator)->finished_rounds());
  if (options.noise > 0) std::printf("; epsilon %.3f at delta %g", (*coordinator)->epsilon(), options.delta);
  std::printf("\n");
  if (ids.empty()) return kDone;
  const std::string version = options.version.empty()
                                  ? absl::StrCat("federated-", (*coordinator)->plan().session().substr(0, 8))
                                  : options.version;
  auto package = (*coordinator)->WritePackage(options.package, version, ids);
  if (!package.ok()) return Fail(package.status());
  std::printf("the retriever %s of %zu items lies in %s; `waymark model import %s --data DIR` adds it\n",
              version.c_str(), ids.size(), options.package.c_str(), options.package.c_str());
  return kDone;
}

void AddPlanOptions(CLI::App* command, Options* options) {
  const federated::Plan plan = DefaultPlan();
  options->rounds = plan.rounds();
  options->local_epochs = plan.local_epochs();
  options->rounds_an_epoch = plan.rounds_an_epoch();
  options->batch_tokens = plan.batch_tokens();
  options->buckets = plan.buckets();
  options->hashes = plan.hashes();
  options->learning_rate = plan.learning_rate();
  options->server_rate = plan.server_rate();
  options->clip = plan.update_clip();
  options->dropout = plan.dropout();
  const char* group = "Plan (fixed once the federation has begun)";
  const auto add = [&](const char* name, auto& value, const char* what, const char* type) {
    return command->add_option(name, value, what)->capture_default_str()->type_name(type)->group(group);
  };
  add("--rounds", options->rounds, "until the model is done", "N")->check(OverZero());
  add("--local-epochs", options->local_epochs, "over a site's own events, in a round", "N")
      ->check(OverZero());
  add("--rounds-an-epoch", options->rounds_an_epoch,
      "parts of its events that a site takes one after the other", "N")
      ->check(OverZero());
  add("--learning-rate", options->learning_rate, "of the sites' Adam", "RATE")->check(OverZero());
  add("--batch-tokens", options->batch_tokens, "events of a step of a site", "N")->check(OverZero());
  add("--dropout", options->dropout, "of the sites' training", "SHARE");
  add("--rule", options->rule, "what becomes of the mean of the updates", "RULE")
      ->check(CLI::IsMember({"fedavg", "fedadam"}));
  add("--server-rate", options->server_rate, "of --rule; .001 to .01 suits fedadam", "RATE")
      ->check(OverZero());
  command
      ->add_option("--table-factor", options->table_factor,
                   "rows of items move so many times as far as the rest; with fedadam 1")
      ->default_str(absl::StrCat(plan.table_factor()))
      ->type_name("FACTOR")
      ->group(group)
      ->check(OverZero());
  add("--buckets", options->buckets, "rows of the table that item ids are hashed into", "N")
      ->check(OverZero());
  add("--hashes", options->hashes, "rows that an item is the sum of", "N")->check(OverZero());
  add("--width", options->width, "of the retriever's vectors", "N")->check(OverZero());
  add("--held-out", options->held_out, "newest events of a user that only measure; 0: none", "N");
  add("--clip", options->clip, "largest L2 norm of a site's update", "NORM")->check(OverZero());
  add("--noise", options->noise, "deviation of the sum's noise, in --clip; 0: no differential privacy", "Z")
      ->check(ZeroOrMore());
  add("--sampling-rate", options->sampling_rate, "chance of a site to be drawn for a round", "RATE")
      ->check(OverZero());
  add("--delta", options->delta, "that epsilon is told at", "DELTA")->check(BetweenZeroAndOne());
  add("--seed", options->seed, "of the first weights and the hashes", "N");
  command
      ->add_flag("--equal-weights", options->equal_weights,
                 "a site weighs 1, and not by its events; always with --noise")
      ->group(group);
}

}  // namespace
}  // namespace federate_coordinator_command

void AddFederateCoordinator(CLI::App* group, Run* run) {
  using namespace federate_coordinator_command;
  CLI::App* command = AddCommand(
      group, "coordinator", "Run the rounds: hold the model, add up masked updates",
      "  waymark federate coordinator --listen :7800 --state federation --ca ca.pem \\\n"
      "      --cert coordinator.pem --key coordinator.key --sites 4 --items items.txt --package retriever");
  auto options = std::make_shared<Options>();
  command->add_option("--listen", options->listen, "where sites reach it")
      ->capture_default_str()
      ->type_name("HOST:PORT");
  command->add_option("--state", options->state, "where model and progress are kept; goes on from there")
      ->required()
      ->type_name("DIR");
  AddCertificateOptions(command, &options->certificates);
  command->add_option("--quorum", options->quorum, "sites that a round takes at least")
      ->capture_default_str()
      ->check(CLI::Range(2, 255))
      ->type_name("N");
  command->add_option("--sites", options->sites, "sites that there are: a round waits for no more")
      ->type_name("N");
  const auto seconds = [&](const char* name, double& value, const char* what) {
    command->add_option(name, value, what)->capture_default_str()->check(OverZero())->type_name("S");
  };
  seconds("--gather", options->gather_s, "seconds to wait for more sites once the quorum is there");
  seconds("--stage-deadline", options->stage_s, "seconds for a site's keys and shares");
  seconds("--training-deadline", options->training_s, "seconds for a site's training");
  seconds("--linger", options->linger_s, "seconds that sites have to fetch the last model");
  command->add_option("--items", options->items, "public list of item ids, one a line, for --package")
      ->type_name("FILE");
  command->add_option("--package", options->package, "where the retriever is written in the end")
      ->type_name("FOLDER");
  command->add_option("--version", options->version, "of the package; made of the session when left out")
      ->type_name("NAME");
  command->add_option("--log-level", options->log_level, "debug, info, warn, error, off")
      ->capture_default_str()
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
      ->type_name("LEVEL");
  AddPlanOptions(command, options.get());
  command->callback([=] { *run = [options] { return RunCoordinator(*options); }; });
}

}  // namespace waymark
