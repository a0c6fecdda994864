#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "app/backend.h"
#include "app/package_parts.h"
#include "pipeline/engine.h"
#include "serving/experiment_host.h"
#include "serving/method_registry.h"
#include "serving/services/admin_service.h"
#include "serving/services/catalog_service.h"
#include "serving/services/curation_service.h"
#include "serving/services/event_service.h"
#include "serving/services/experiment_service.h"
#include "serving/services/model_service.h"
#include "serving/services/ranking_services.h"
#include "serving/services/release_service.h"
#include "serving/services/slot_service.h"
#include "serving/services/suggest_service.h"
#include "serving/services/user_service.h"

namespace waymark {
namespace {

// One session of the server's import, for one batch.
template <class Response, class Session, class Request>
absl::StatusOr<Response> RunImport(std::unique_ptr<Session> session, const Request& batch) {
  Response response;
  if (auto status = session->Take(batch, {}); !status.ok()) return status;
  if (auto status = session->Finish(&response, {}); !status.ok()) return status;
  return response;
}

template <class Cursor, class Visit>
absl::Status RunExport(absl::StatusOr<Cursor> cursor, const Visit& visit) {
  if (!cursor.ok()) return cursor.status();
  while (true) {
    auto chunk = (*cursor)->Next({});
    if (!chunk.ok()) return chunk.status();
    if (chunk->empty()) return absl::OkStatus();
    for (const auto& entry : *chunk) {
      if (auto status = visit(entry); !status.ok()) return status;
    }
  }
}

class LocalBackend : public Backend {
 public:
  LocalBackend(std::unique_ptr<Engine> engine, const std::string& data, absl::Duration timeout)
      : engine_(std::move(engine)), data_(data), timeout_(timeout), host_(engine_.get()) {
    RegisterCatalog(engine_.get(), &methods_);
    RegisterUsers(engine_.get(), &host_, &methods_);
    RegisterEvents(engine_.get(), &methods_);
    RegisterRanking(engine_.get(), nullptr, &methods_);  // who looks at a folder is nobody's unit
    RegisterSuggest(engine_.get(), &methods_);
    RegisterModels(engine_.get(), &methods_);
    RegisterReleases(engine_.get(), &methods_);
    RegisterExperiments(engine_.get(), &host_, &methods_);
    RegisterCuration(engine_.get(), &methods_);
    RegisterSlots(engine_.get(), &host_, &methods_);
    RegisterAdmin(engine_.get(), absl::Now(), &methods_);
  }

  std::string where() const override { return absl::StrCat("the data folder ", data_); }
  Engine* engine() override { return engine_.get(); }

  absl::Status Call(const std::string& method, const google::protobuf::Message& request,
                    google::protobuf::Message* response) override {
    const Method* found = methods_.Find(method);
    if (found == nullptr) return absl::UnimplementedError(absl::StrCat("no method ", method));
    CallContext context;
    if (NeedsAll(method)) {
      // One command, one answer: not what happens to be there a moment after a crash or a rebuild.
      if (auto status = CatchUpOnce(); !status.ok()) return status;
    }
    if (absl::EndsWith(method, ".Suggest")) {
      if (auto status = CatchUpSuggestions(); !status.ok()) return status;
    }
    if (!IsLongCall(method)) context.deadline = Deadline::After(timeout_);
    return found->handler(request, response, context);
  }

  absl::StatusOr<v1::ImportItemsResponse> ImportItems(const v1::ImportItemsRequest& batch) override {
    return RunImport<v1::ImportItemsResponse>(MakeItemImport(engine_.get()), batch);
  }
  absl::StatusOr<v1::ImportEventsResponse> ImportEvents(const v1::ImportEventsRequest& batch) override {
    return RunImport<v1::ImportEventsResponse>(MakeEventImport(engine_.get()), batch);
  }
  absl::StatusOr<v1::Model> ImportModel(const std::string& parent,
                                        const std::filesystem::path& folder) override {
    auto session = MakeModelImport(engine_.get());
    auto status = ForEachPackagePart(
        parent, folder, [&session](const v1::ImportModelRequest& part) { return session->Take(part, {}); });
    if (!status.ok()) return status;
    v1::Model model;
    if (status = session->Finish(&model, {}); !status.ok()) return status;
    return model;
  }

  absl::Status ExportItems(const v1::ExportItemsRequest& request,
                           const std::function<absl::Status(const v1::Item&)>& visit) override {
    return RunExport(MakeItemExport(engine_.get(), request, {}), visit);
  }
  absl::Status ExportEvents(const v1::ExportEventsRequest& request,
                            const std::function<absl::Status(const v1::Event&)>& visit) override {
    return RunExport(MakeEventExport(engine_.get(), request, {}), visit);
  }

  absl::Status Settle() override {
    for (Collection* collection : engine_->Collections()) {
      if (auto status = collection->CatchUp(Deadline::Never()); !status.ok()) return status;
    }
    return engine_->Checkpoint();
  }

 private:
  static bool NeedsAll(const std::string& method) {
    return absl::EndsWith(method, ".Search") || absl::EndsWith(method, ".Recommend") ||
           absl::EndsWith(method, ".Rank") || absl::EndsWith(method, ".Suggest");
  }
  absl::Status CatchUpOnce() {
    if (caught_up_) return absl::OkStatus();
    for (Collection* collection : engine_->Collections()) {
      if (auto status = collection->CatchUp(Deadline::After(timeout_)); !status.ok()) return status;
    }
    caught_up_ = true;
    return absl::OkStatus();
  }

  absl::Status CatchUpSuggestions() {
    for (Collection* collection : engine_->Collections()) {
      if (auto status = collection->CatchUpSuggestions(Deadline::After(timeout_)); !status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  std::unique_ptr<Engine> engine_;
  const std::string data_;
  const absl::Duration timeout_;
  bool caught_up_ = false;
  ExperimentHost host_;  // its thread is not started: one command, one answer
  MethodRegistry methods_;
};

}  // namespace

std::unique_ptr<Backend> MakeLocalBackend(std::unique_ptr<Engine> engine, const std::string& data,
                                          absl::Duration timeout) {
  return std::make_unique<LocalBackend>(std::move(engine), data, timeout);
}

}  // namespace waymark
