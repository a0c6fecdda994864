#include "serving/services/event_service.h"

#include <utility>

#include "serving/services/batch_import.h"
#include "serving/services/collection_access.h"
#include "serving/services/event_listing.h"
#include "serving/services/event_messages.h"
#include "serving/services/write_batch.h"

namespace waymark {
namespace {

absl::Status WriteEvents(Engine* engine, const v1::WriteEventsRequest& request,
                         v1::WriteEventsResponse* response) {
  if (auto status = CheckBatchSize(request.events_size(), "events"); !status.ok()) return status;
  auto collection = OpenForWrite(engine, request.parent());
  if (!collection.ok()) return collection.status();
  WriteBatch batch;
  for (const v1::Event& event : request.events()) {
    batch.Add(event.event_id(), EventOf(*engine, event, /*imported=*/false));
  }
  auto outcome = batch.Commit(*collection, engine->store().EndPosition());
  if (!outcome.ok()) return outcome.status();
  outcome->Fill(response->mutable_results());
  response->set_duplicates(outcome->duplicates());
  response->set_consistency_token(outcome->consistency_token);
  return absl::OkStatus();
}

class EventImportSession : public EventImport {
 public:
  explicit EventImportSession(Engine* engine) : engine_(engine), import_(engine) {}
  absl::Status Take(const v1::ImportEventsRequest& request, const CallContext& context) override {
    if (auto status = import_.Open(request.parent()); !status.ok()) return status;
    for (const v1::Event& event : request.events()) {
      auto status = import_.Add(event.event_id(), EventOf(*engine_, event, /*imported=*/true));
      if (!status.ok()) return status;
    }
    if (auto status = import_.Flush(); !status.ok()) return status;
    return context.Check();
  }
  absl::Status Finish(v1::ImportEventsResponse* response, const CallContext&) override {
    import_.Answer(response);
    response->set_duplicates(import_.duplicates());
    return absl::OkStatus();
  }

 private:
  Engine* engine_;
  BatchImport import_;
};

}  // namespace

std::unique_ptr<EventImport> MakeEventImport(Engine* engine) {
  return std::make_unique<EventImportSession>(engine);
}

void RegisterEvents(Engine* engine, MethodRegistry* registry) {
  const std::string service = "waymark.v1.EventService.";
  registry->Add<v1::WriteEventsRequest, v1::WriteEventsResponse>(
      service + "WriteEvents", {.max_request_bytes = size_t{2} << 20, .lane = Lane::kWrite},
      [engine](const auto& q, auto* r, const CallContext&) { return WriteEvents(engine, q, r); });
  registry->Add<v1::ListEventsRequest, v1::ListEventsResponse>(
      service + "ListEvents", {},
      [engine](const auto& q, auto* r, const CallContext& c) { return ListEvents(engine, q, r, c); });
}

}  // namespace waymark
