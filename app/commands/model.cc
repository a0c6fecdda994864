#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "app/commands/target_command.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/progress.h"
#include "app/text_table.h"
#include "store/rows/row_time.h"

namespace waymark {
namespace model_command {
namespace {

struct Options {
  Target target;
  std::string kind, version, folder;
};

std::string Metrics(const v1::Model& model) {
  std::vector<std::string> names;
  for (const auto& metric : model.metrics()) names.push_back(metric.first);
  std::sort(names.begin(), names.end());
  return absl::StrJoin(names, ", ", [&model](std::string* out, const std::string& name) {
    absl::StrAppendFormat(out, "%s %.4g", name, model.metrics().at(name));
  });
}

int List(const Options& options, Backend* backend) {
  v1::ListModelsRequest request;
  request.set_parent(Parent(options.target));
  request.set_kind(options.kind);
  v1::ListModelsResponse response;
  auto status = backend->Call("waymark.v1.ModelService.ListModels", request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  TextTable table({{"kind", TextTable::kWhole},
                   {"version", TextTable::kWhole},
                   {"bytes", TextTable::kRight},
                   {"metrics", TextTable::kText}});
  for (const v1::Model& model : response.models()) {
    table.Add({model.kind(), model.version(), WithThousands(model.bytes()), Metrics(model)});
  }
  std::fputs(response.models().empty() ? "no models\n" : table.Render(TerminalWidth()).c_str(), stdout);
  return kDone;
}

void Print(const v1::Model& model) {
  std::printf("%s %s\nbytes      %s\nsha256     %s\n", model.kind().c_str(), model.version().c_str(),
              WithThousands(model.bytes()).c_str(), model.sha256().c_str());
  if (!model.retriever_sha256().empty()) std::printf("retriever  %s\n", model.retriever_sha256().c_str());
  std::printf("imported   %s\n", FormatRowTime(absl::FromUnixSeconds(model.import_time().seconds())).c_str());
  if (model.metrics_size() > 0) std::printf("metrics    %s\n", Metrics(model).c_str());
  if (model.features_size() > 0)
    std::printf("features   %s\n", absl::StrJoin(model.features(), ", ").c_str());
}

int Show(const Options& options, Backend* backend) {
  v1::GetModelRequest request;
  request.set_parent(Parent(options.target));
  request.set_kind(options.kind);
  request.set_version(options.version);
  v1::Model model;
  auto status = backend->Call("waymark.v1.ModelService.GetModel", request, &model);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(model);
  Print(model);
  return kDone;
}

int Verify(const Options& options, Backend* backend) {
  v1::VerifyModelRequest request;
  request.set_parent(Parent(options.target));
  request.set_kind(options.kind);
  request.set_version(options.version);
  v1::VerifyModelResponse response;
  auto status = backend->Call("waymark.v1.ModelService.VerifyModel", request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) PrintJson(response);
  if (response.intact()) {
    if (!options.target.json) std::printf("%s %s is intact\n", options.kind.c_str(), options.version.c_str());
    return kDone;
  }
  return Fail(absl::DataLossError(absl::StrCat(options.kind, " ", options.version,
                                               " is damaged: ", absl::StrJoin(response.problems(), "; "))));
}

int Import(const Options& options, Backend* backend) {
  auto model = backend->ImportModel(Parent(options.target), options.folder);
  if (!model.ok()) return Fail(model.status());
  if (options.target.json) return PrintJson(*model);
  Print(*model);
  return kDone;
}

}  // namespace
}  // namespace model_command

void AddModel(CLI::App* app, Run* run) {
  using namespace model_command;
  CLI::App* group = AddCommandGroup(app, "model", "Model packages: list, show, verify, import",
                                    "  waymark model list --data DIR");
  auto options = std::make_shared<Options>();
  auto kind = [options](CLI::App* command) {
    return command->add_option("kind", options->kind, "retriever or ranker")
        ->check(CLI::IsMember({"retriever", "ranker"}))
        ->type_name("KIND");
  };
  auto version = [options](CLI::App* command) {
    command->add_option("version", options->version, "as `model list` shows it")
        ->required()
        ->type_name("VERSION");
  };
  kind(AddTargetCommand(group, run, "list", "Every model of the collection",
                        "  waymark model list --data DIR", options, Access::kRead, List));
  CLI::App* show =
      AddTargetCommand(group, run, "show", "One model with its metrics and features",
                       "  waymark model show ranker v1 --data DIR", options, Access::kRead, Show);
  kind(show)->required();
  version(show);
  CLI::App* verify =
      AddTargetCommand(group, run, "verify", "Read a model's files again and compare their hashes",
                       "  waymark model verify ranker v1 --data DIR", options, Access::kRead, Verify);
  kind(verify)->required();
  version(verify);
  AddTargetCommand(group, run, "import", "Check a package and add it",
                   "  waymark model import packages/ranker-v2 --data DIR", options, Access::kCreate, Import)
      ->add_option("folder", options->folder, "the package's folder")
      ->required()
      ->type_name("FOLDER");
}

}  // namespace waymark
