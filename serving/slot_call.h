// What a content slot shows in one request: a tester's variant, the arm of an experiment, else the newest
// variant that is active, valid and meant for it. Takes down who was shown which arm.
//
//   SlotCall call(engine, host, collection);
//   absl::Status status = call.Answer(request, &response);
#pragma once
#include "absl/status/status.h"
#include "pipeline/engine.h"
#include "serving/experiment_host.h"
#include "waymark/v1/slot.pb.h"

namespace waymark {

class SlotCall {
 public:
  // `host` null: no experiments. All live longer.
  SlotCall(Engine* engine, ExperimentHost* host, Collection* collection)
      : engine_(engine), host_(host), collection_(collection) {}

  // NOT_FOUND: no such slot, or a tester's variant that is not there. INVALID_ARGUMENT names the field.
  absl::Status Answer(const v1::GetSlotRequest& request, v1::GetSlotResponse* response) const;

 private:
  Engine* engine_;
  ExperimentHost* host_;
  Collection* collection_;
};

}  // namespace waymark
