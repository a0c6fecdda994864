#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <thread>

#include "absl/strings/str_cat.h"
#include "app/commands/commands.h"
#include "app/data_copy.h"
#include "app/exit.h"
#include "app/federation_options.h"
#include "app/option_checks.h"
#include "app/progress.h"
#include "app/target.h"
#include "app/training_progress.h"
#include "pipeline/model_registry.h"
#include "training/federated/rpc/site_client.h"
#include "training/past/training_log.h"

namespace waymark {
namespace federate_site_command {
namespace {

struct Options {
  Target target;
  CertificateOptions certificates;
  std::string coordinator, version;
  int threads = 0;
  size_t fewest_sites = 3;
  double patience_s = 600;
};

// Every item that the site has a name of.
std::vector<std::string> ItemsOf(const ItemDirectory& items) {
  std::vector<ItemOrdinal> ordinals(items.End());
  std::iota(ordinals.begin(), ordinals.end(), 0);
  std::vector<std::string> ids = items.Ids(ordinals);
  std::erase_if(ids, [](const std::string& id) { return id.empty(); });
  return ids;
}

// The federation's model, expanded to the site's own items, as a model of its registry.
absl::StatusOr<v1::Model> Register(const Options& options, const SiteResult& result,
                                   const ItemDirectory& items, Backend* backend) {
  auto layout = ExchangedLayout::Of(result.plan);
  if (!layout.ok()) return layout.status();
  FederatedPackage about;
  about.version = options.version.empty() ? absl::StrCat("federated-", result.plan.session().substr(0, 8))
                                          : options.version;
  about.metrics["rounds"] = result.rounds;
  if (result.plan.noise() > 0) {
    about.metrics["epsilon"] = result.epsilon;
    about.metrics["delta"] = result.plan.delta();
  }
  const std::filesystem::path folder = std::filesystem::path(options.target.data) / "training" /
                                       absl::StrCat("federated-", result.plan.session());
  std::error_code ignored;
  std::filesystem::create_directories(folder.parent_path(), ignored);
  std::filesystem::remove_all(folder, ignored);  // of a site that was stopped here
  auto package = WriteFederatedPackage(folder, result.plan, *layout, result.model, ItemsOf(items), about);
  if (!package.ok()) return package.status();
  auto model = backend->ImportModel(Parent(options.target), package->folder);
  if (model.ok()) std::filesystem::remove_all(folder, ignored);
  return model;
}

int RunFederateSite(const Options& options) {
  setenv("GRPC_VERBOSITY", "NONE", 0);  // of a refused certificate it says less, and twice, than our message
  if (options.target.data.empty()) return FailUsage("a site trains on its data folder: say --data DIR");
  auto identity = ReadIdentity(options.certificates, TlsRole::kSite);
  if (!identity.ok()) return Fail(identity.status());
  auto backend = OpenTarget(options.target, Access::kWrite);
  if (!backend.ok()) return Fail(backend.status());
  auto data =
      CopyCollection(backend->get(), options.target.data, {options.target.tenant, options.target.collection});
  if (!data.ok()) return Fail(data.status());
  auto log = TrainingLog::Read(*data->store, data->scope, data->store->End());
  if (!log.ok()) return Fail(log.status());
  const Interactions events = log->Known({});
  const CatalogDirectory items(data->store.get(), data->scope, data->catalog.get());

  StopBySignal stop;
  SiteOptions site;
  site.coordinator = options.coordinator;
  site.identity = *identity;
  site.program_version = WAYMARK_VERSION;
  site.fewest_sites = options.fewest_sites;
  site.patience = absl::Seconds(options.patience_s);
  const int threads =
      options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  const auto make_trainer = [&](const federated::Plan& plan) {
    return SiteTrainer::Make(events, items, plan, {identity->name, threads});
  };
  const auto progress = [&](const SiteProgress& p) {
    std::string text = absl::StrCat("site ", identity->name, ": ", p.what);
    if (p.round > 0) absl::StrAppend(&text, ", round ", p.round, " of ", p.rounds);
    if (!p.detail.empty()) absl::StrAppend(&text, ": ", p.detail);
    Say(text);
  };
  auto result = RunSite(site, make_trainer, progress, stop.token());
  if (!result.ok()) {
    if (!stop.Requested()) return Fail(result.status());
    Say("stopped; the same command joins again");
    return kFailed;
  }
  auto model = Register(options, *result, items, backend->get());
  if (!model.ok()) return Fail(model.status());
  std::printf("took part in %d of %d rounds; the retriever %s is registered\n", result->rounds_taken_part,
              result->rounds, model->version().c_str());
  if (result->plan.noise() > 0) {
    std::printf("the model tells of any one site at most epsilon %.3f at delta %g\n", result->epsilon,
                result->plan.delta());
  }
  std::printf("`waymark release create --retriever %s --activate --data %s` serves it\n",
              model->version().c_str(), options.target.data.c_str());
  return kDone;
}

}  // namespace
}  // namespace federate_site_command

void AddFederateSite(CLI::App* group, Run* run) {
  using namespace federate_site_command;
  CLI::App* command =
      AddCommand(group, "site", "Train on this site's events and send masked updates to a coordinator",
                 "  waymark federate site --data DIR --coordinator host:7800 --ca ca.pem --cert north.pem "
                 "--key north.key");
  auto options = std::make_shared<Options>();
  AddTargetOptions(command, &options->target);
  command->add_option("--coordinator", options->coordinator, "where the coordinator listens")
      ->required()
      ->type_name("HOST:PORT");
  AddCertificateOptions(command, &options->certificates);
  command
      ->add_option("--min-sites", options->fewest_sites,
                   "takes part in no round of fewer sites: their sum would say too much of this one")
      ->capture_default_str()
      ->check(CLI::Range(2, 255))
      ->type_name("N");
  command
      ->add_option("--patience", options->patience_s, "seconds to go on trying while no coordinator answers")
      ->capture_default_str()
      ->check(OverZero())
      ->type_name("S");
  command->add_option("--threads", options->threads, "0: every core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--version", options->version, "of the model; made of the session when left out")
      ->check(CLI::Validator(
          [](std::string& name) -> std::string {
            if (IsVersionName(name)) return "";
            return absl::StrCat("is '", name, "'; it takes 1 to 64 letters, digits, '.', '-' or '_'");
          },
          ""))
      ->type_name("NAME");
  command->callback([=] { *run = [options] { return RunFederateSite(*options); }; });
}

}  // namespace waymark
