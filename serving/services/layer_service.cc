// Layers and holdouts of ExperimentService. «-» stands for the whole collection.
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "experiment/decisions/experiment_check.h"
#include "serving/services/experiment_service.h"
#include "serving/status_details.h"
#include "store/slot_name.h"
#include "waymark/v1/experiment.pb.h"

namespace waymark {
namespace {

constexpr char kWholeCollection[] = "-";

std::string StoredLayer(const std::string& id) { return id == kWholeCollection ? std::string() : id; }

absl::Status CheckLayerName(const std::string& id) {
  if (id == kWholeCollection || IsSlotId(id)) return absl::OkStatus();
  return InvalidField(
      "id", absl::StrCat("is '", id.substr(0, 80),
                         "'; it takes 1 to 64 letters, digits, '.', '-' or '_', the first no '.'; «-» "
                         "is the whole collection"));
}

// Experiments that hold units of each layer.
std::map<std::string, std::vector<std::string>> HoldersOf(const Experiments& experiments) {
  std::map<std::string, std::vector<std::string>> holders;
  for (const storage::ExperimentRecord& record : experiments.List()) {
    if (!record.layer().empty() && HoldsSlot(record)) holders[record.layer()].push_back(record.id());
  }
  return holders;
}

void Fill(const storage::LayerRecord& record, const std::vector<std::string>& holders, v1::Layer* layer) {
  layer->set_id(record.id().empty() ? kWholeCollection : record.id());
  layer->set_holdout(record.holdout());
  for (const std::string& id : holders) layer->add_experiments(id);
}

class LayerService {
 public:
  LayerService(Engine* engine, ExperimentHost* host) : engine_(engine), host_(host) {}

  absl::Status Put(const v1::PutLayerRequest& request, v1::Layer* response,
                   const CallContext& context) const {
    if (auto status = CheckLayerName(request.id()); !status.ok()) return status;
    if (!request.layer().id().empty() && request.layer().id() != request.id()) {
      return InvalidField("layer.id", absl::StrCat("is '", request.layer().id(), "', and the path names '",
                                                   request.id(), "'"));
    }
    auto hosted = OpenExperiments(engine_, host_, request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    storage::LayerRecord record;
    record.set_id(StoredLayer(request.id()));
    record.set_holdout(request.layer().holdout());
    if (auto status = (*hosted)->experiments->PutLayer(record); !status.ok()) return status;
    Fill(record, HoldersOf(*(*hosted)->experiments)[record.id()], response);
    return absl::OkStatus();
  }

  absl::Status List(const v1::ListLayersRequest& request, v1::ListLayersResponse* response,
                    const CallContext& context) const {
    auto hosted = OpenExperiments(engine_, host_, request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    auto holders = HoldersOf(*(*hosted)->experiments);
    for (const storage::LayerRecord& record : (*hosted)->experiments->Layers()) {
      Fill(record, holders[record.id()], response->add_layers());
    }
    return absl::OkStatus();
  }

  absl::Status Delete(const v1::DeleteLayerRequest& request, const CallContext& context) const {
    if (auto status = CheckLayerName(request.id()); !status.ok()) return status;
    auto hosted = OpenExperiments(engine_, host_, request.parent(), context);
    if (!hosted.ok()) return hosted.status();
    const absl::Status status = (*hosted)->experiments->DeleteLayer(StoredLayer(request.id()));
    return absl::IsNotFound(status) ? WithReason(status, "LAYER_NOT_FOUND") : status;
  }

 private:
  Engine* engine_;
  ExperimentHost* host_;
};

}  // namespace

void RegisterLayers(Engine* engine, ExperimentHost* host, MethodRegistry* registry) {
  const LayerService s(engine, host);
  const std::string service = "waymark.v1.ExperimentService.";
  registry->Add<v1::PutLayerRequest, v1::Layer>(
      service + "PutLayer", kWriting,
      [s](const auto& q, auto* r, const CallContext& c) { return s.Put(q, r, c); });
  registry->Add<v1::ListLayersRequest, v1::ListLayersResponse>(
      service + "ListLayers", {},
      [s](const auto& q, auto* r, const CallContext& c) { return s.List(q, r, c); });
  registry->Add<v1::DeleteLayerRequest, v1::DeleteLayerResponse>(
      service + "DeleteLayer", kWriting,
      [s](const auto& q, auto*, const CallContext& c) { return s.Delete(q, c); });
}

}  // namespace waymark
