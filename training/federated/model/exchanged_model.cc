#include "training/federated/model/exchanged_model.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "recommend/network/retriever_weights.h"

namespace waymark {
namespace {

constexpr double kIdDeviation = 0.02;
constexpr int64_t kMostNumbers = int64_t{1} << 28;  // 1 GB of floats

absl::Status PlanTakes(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the plan's ", name, " is ", value, "; it takes ", low, " to ", high));
}

absl::Status CheckPlan(const federated::Plan& plan) {
  absl::Status status = PlanTakes("format", plan.format(), 1, 1);
  status.Update(PlanTakes("buckets", plan.buckets(), 16, 1 << 24));
  status.Update(PlanTakes("hashes", plan.hashes(), 1, 8));
  status.Update(PlanTakes("rounds", plan.rounds(), 1, 100000));
  status.Update(PlanTakes("local_epochs", plan.local_epochs(), 1, 1000));
  status.Update(PlanTakes("rounds_an_epoch", plan.rounds_an_epoch(), 1, plan.local_epochs() > 1 ? 1 : 1000));
  status.Update(PlanTakes("held_out", plan.held_out(), 0, 100));
  status.Update(PlanTakes("update_clip", plan.update_clip(), 1e-6, 1e6));
  status.Update(PlanTakes("most_sites", plan.most_sites(), 2, 255));
  status.Update(PlanTakes("most_events", static_cast<double>(plan.most_events()), 1, 1 << 23));
  status.Update(PlanTakes("noise", plan.noise(), 0, 1000));
  status.Update(PlanTakes("sampling_rate", plan.sampling_rate(), 1e-6, 1));
  status.Update(PlanTakes("delta", plan.delta(), 1e-15, 0.5));
  status.Update(PlanTakes("server_rate", plan.server_rate(), 1e-6, 100));
  status.Update(PlanTakes("table_factor", plan.table_factor(), 1e-3, 1000));
  if (status.ok() && plan.rule() == federated::Plan::FEDADAM && plan.table_factor() != 1) {
    status = absl::InvalidArgumentError(absl::StrCat("the plan's table_factor is ", plan.table_factor(),
                                                     "; with fedadam it is 1: its steps have one size"));
  }
  if (status.ok() && plan.noise() > 0 && !plan.equal_weights()) {
    status =
        absl::InvalidArgumentError("the plan's noise needs equal_weights: a weight tells of a site's data");
  }
  return status;
}

}  // namespace

absl::StatusOr<ExchangedLayout> ExchangedLayout::Of(const federated::Plan& plan) {
  if (auto status = CheckPlan(plan); !status.ok()) return status;
  storage::ModelManifest manifest;
  manifest.set_kind("retriever");
  manifest.set_name("plan");
  *manifest.mutable_network() = plan.network();
  auto shape = RetrieverShape::FromManifest(manifest);
  if (!shape.ok()) return shape.status();
  ExchangedLayout layout{*shape, {plan.seed(), static_cast<uint32_t>(plan.buckets()), plan.hashes()}};
  for (const NamedShape& tensor : shape->DenseTensors()) layout.dense += tensor.elements();
  layout.ids = static_cast<size_t>(plan.buckets()) * shape->width;
  layout.content = static_cast<size_t>(shape->content_buckets) * shape->content_width;
  if (layout.total() > kMostNumbers) {
    return absl::InvalidArgumentError(absl::StrCat("the plan's model has ", layout.total(),
                                                   " numbers; at most ", kMostNumbers,
                                                   " are exchanged: take fewer buckets or a smaller width"));
  }
  return layout;
}

std::vector<float> InitialModel(const federated::Plan& plan, const ExchangedLayout& layout) {
  std::vector<float> model;
  model.reserve(layout.total());
  DenseWeights dense(layout.shape);
  InitializeDense(&dense, plan.seed());
  for (const at::Tensor& tensor : dense.tensors) {
    model.insert(model.end(), tensor.data_ptr<float>(), tensor.data_ptr<float>() + tensor.numel());
  }
  const at::Tensor rows = InitialTable({"buckets", {plan.buckets(), layout.shape.width}},
                                       kIdDeviation / std::sqrt(plan.hashes()), plan.seed());
  model.insert(model.end(), rows.data_ptr<float>(), rows.data_ptr<float>() + rows.numel());
  model.resize(layout.total(), 0.0f);
  return model;
}

void MoveModel(const federated::Plan& plan, const ExchangedLayout& layout, absl::Span<float> mean,
               ServerMoments* moments, absl::Span<float> model) {
  const float factor = static_cast<float>(plan.table_factor());
  for (float& value : mean.subspan(layout.dense, layout.ids)) value *= factor;
  ServerOptimizerOptions server;
  server.rule = plan.rule() == federated::Plan::FEDADAM ? ServerRule::kFedAdam : ServerRule::kFedAvg;
  server.rate = plan.server_rate();
  ApplyMeanUpdate(server, mean, moments, model);
}

absl::StatusOr<ModelPackage> WriteFederatedPackage(const std::filesystem::path& folder,
                                                   const federated::Plan& plan, const ExchangedLayout& layout,
                                                   absl::Span<const float> model,
                                                   const std::vector<std::string>& ids,
                                                   const FederatedPackage& about) {
  if (ids.empty()) return absl::InvalidArgumentError("a package needs item ids, and none were given");
  if (model.size() != layout.total()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model has ", model.size(), " numbers; the plan's has ", layout.total()));
  }
  TensorMap tensors;
  size_t at = 0;
  for (const NamedShape& tensor : layout.shape.DenseTensors()) {
    tensors[tensor.name] = TensorData::F32(tensor.shape, model.subspan(at, tensor.elements()));
    at += tensor.elements();
  }
  const size_t width = layout.shape.width;
  std::vector<float> items(ids.size() * width);
  Expand(layout.table, layout.table.RowsOf(ids), model.subspan(layout.dense, layout.ids), width,
         absl::MakeSpan(items));
  const std::vector<NamedShape> tables = layout.shape.Tables(static_cast<int64_t>(ids.size()));
  tensors[tables[0].name] = TensorData::F32(tables[0].shape, items);
  tensors[tables[1].name] =
      TensorData::F32(tables[1].shape, model.subspan(layout.dense + layout.ids, layout.content));

  storage::ModelManifest manifest;
  manifest.set_kind("retriever");
  manifest.set_name("federated retriever");
  manifest.set_version(about.version);
  manifest.set_create_time(absl::FormatTime(absl::RFC3339_full, about.clock->Now(), absl::UTCTimeZone()));
  *manifest.mutable_network() = plan.network();
  manifest.mutable_data()->set_items(static_cast<int64_t>(ids.size()));
  manifest.mutable_data()->set_seed(plan.seed());
  for (const auto& [name, value] : about.metrics) (*manifest.mutable_metrics())[name] = value;
  return WriteModelPackage(folder, std::move(manifest), tensors, {{"items", ids}});
}

}  // namespace waymark
