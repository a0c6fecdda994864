#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "app/commands/target_command.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/text_table.h"
#include "waymark/v1/experiment.pb.h"

namespace waymark {
namespace experiment_layer_command {
namespace {

constexpr const char* kService = "waymark.v1.ExperimentService.";

struct Options {
  Target target;
  std::string id;
  double holdout = 0;
};

std::string LayerText(const v1::Layer& layer) {
  return absl::StrFormat(
      "%s: holdout %g%%%s", layer.id() == "-" ? "the whole collection" : "layer " + layer.id(),
      100 * layer.holdout(),
      layer.experiments().empty() ? ""
                                  : absl::StrCat(", experiments ", absl::StrJoin(layer.experiments(), ", ")));
}

int Put(const Options& options, Backend* backend) {
  v1::PutLayerRequest request;
  request.set_parent(Parent(options.target));
  request.set_id(options.id);
  request.mutable_layer()->set_holdout(options.holdout);
  v1::Layer layer;
  auto status = backend->Call(absl::StrCat(kService, "PutLayer"), request, &layer);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(layer);
  std::printf("%s\n", LayerText(layer).c_str());
  return kDone;
}

int List(const Options& options, Backend* backend) {
  v1::ListLayersRequest request;
  request.set_parent(Parent(options.target));
  v1::ListLayersResponse response;
  auto status = backend->Call(absl::StrCat(kService, "ListLayers"), request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  for (const v1::Layer& layer : response.layers()) std::printf("%s\n", LayerText(layer).c_str());
  if (response.layers().empty()) std::printf("no layers, and nobody is held out\n");
  return kDone;
}

int Delete(const Options& options, Backend* backend) {
  v1::DeleteLayerRequest request;
  request.set_parent(Parent(options.target));
  request.set_id(options.id);
  v1::DeleteLayerResponse response;
  auto status = backend->Call(absl::StrCat(kService, "DeleteLayer"), request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  std::printf("%s\n", options.id == "-" ? "nobody is held out of the whole collection any more"
                                        : absl::StrCat("deleted layer ", options.id).c_str());
  return kDone;
}

}  // namespace
}  // namespace experiment_layer_command

void AddExperimentLayer(CLI::App* group, Run* run) {
  using namespace experiment_layer_command;
  CLI::App* layers = AddCommandGroup(group, "layer", "Layers, whose experiments share no unit, and holdouts",
                                     "  waymark experiment layer put ranking --holdout .05 --data DIR\n"
                                     "  waymark experiment layer put - --holdout .02 --data DIR");
  auto options = std::make_shared<Options>();
  CLI::App* put = AddTargetCommand(layers, run, "put", "Make a layer, or change its holdout",
                                   "  waymark experiment layer put ranking --holdout .05 --data DIR", options,
                                   Access::kWrite, Put);
  AddTargetCommand(layers, run, "list", "Layers with their holdouts and experiments",
                   "  waymark experiment layer list --data DIR", options, Access::kRead, List);
  CLI::App* remove = AddTargetCommand(layers, run, "delete", "Delete a layer that no experiment is in",
                                      "  waymark experiment layer delete ranking --data DIR", options,
                                      Access::kWrite, Delete);
  for (CLI::App* command : {put, remove}) {
    command->add_option("id", options->id, "its name; - is the whole collection")
        ->required()
        ->type_name("ID");
  }
  put->add_option("--holdout", options->holdout, "share of units that no experiment of it may touch")
      ->capture_default_str()
      ->type_name("SHARE");
}

}  // namespace waymark
