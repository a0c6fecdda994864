#include "serving/services/slot_service.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "experiment/decisions/state_machine.h"
#include "serving/list_page.h"
#include "serving/services/collection_access.h"
#include "serving/services/slot_messages.h"
#include "serving/slot_call.h"
#include "serving/status_details.h"
#include "store/slot_name.h"
#include "waymark/v1/curation.pb.h"

namespace waymark {
namespace {

absl::Status CheckSlotId(std::string_view field, const std::string& id) {
  if (IsSlotId(id)) return absl::OkStatus();
  return InvalidField(field,
                      absl::StrCat("is '", id.substr(0, 80),
                                   "'; it takes 1 to 64 letters, digits, '.', '-' or '_', the first no '.'"));
}

absl::Status CheckIds(const std::string& slot, const std::string& variant) {
  if (auto status = CheckSlotId("slot", slot); !status.ok()) return status;
  return CheckSlotId("id", variant);
}

absl::Status NamedVariant(absl::Status status) {
  return absl::IsNotFound(status) ? WithReason(std::move(status), "SLOT_VARIANT_NOT_FOUND") : status;
}

template <class Request>
std::optional<int64_t> ExpectedOf(const Request& request) {
  return request.has_expected_revision() ? std::optional(request.expected_revision()) : std::nullopt;
}

class SlotService {
 public:
  SlotService(Engine* engine, ExperimentHost* host) : engine_(engine), host_(host) {}

  absl::Status Put(const v1::PutSlotVariantRequest& request, v1::SlotVariant* response) const {
    if (auto status = CheckIds(request.slot(), request.id()); !status.ok()) return status;
    const v1::SlotVariant& variant = request.variant();
    if (!variant.id().empty() && variant.id() != request.id()) {
      return InvalidField("variant.id",
                          absl::StrCat("is '", variant.id(), "', and the path names '", request.id(), "'"));
    }
    if (!variant.slot().empty() && variant.slot() != request.slot()) {
      return InvalidField("variant.slot", absl::StrCat("is '", variant.slot(), "', and the path names '",
                                                       request.slot(), "'"));
    }
    auto record = RecordOf(variant);
    if (!record.ok()) return record.status();
    auto collection = OpenForWrite(engine_, request.parent());
    if (!collection.ok()) return collection.status();
    const SlotVariantId id{request.slot(), request.id()};
    if (auto status = CheckNotTested(**collection, id, "changes"); !status.ok()) return status;
    auto written =
        Write(**collection, {CurationKind::kSlotVariant, id.Key(), *std::move(record), ExpectedOf(request)});
    if (!written.ok()) return written.status();
    ToMessage((*collection)->name(), *written->after, response);
    return absl::OkStatus();
  }

  absl::Status Get(const v1::GetSlotVariantRequest& request, v1::SlotVariant* response,
                   const CallContext& context) const {
    if (auto status = CheckIds(request.slot(), request.id()); !status.ok()) return status;
    auto collection = OpenForRead(engine_, request.parent(), "", context);
    if (!collection.ok()) return collection.status();
    auto record = engine_->store().GetCuration((*collection)->scope(), CurationKind::kSlotVariant,
                                               SlotVariantId{request.slot(), request.id()}.Key());
    if (!record.ok()) return NamedVariant(record.status());
    ToMessage((*collection)->name(), *record, response);
    return absl::OkStatus();
  }

  absl::Status ListVariants(const v1::ListSlotVariantsRequest& request,
                            v1::ListSlotVariantsResponse* response, const CallContext& context) const {
    if (auto status = CheckSlotId("slot", request.slot()); !status.ok()) return status;
    const std::string prefix = request.slot() + "/";
    return List(request, {"slot variants", request.parent(), request.slot()}, CurationKind::kSlotVariant,
                prefix, context, response,
                [&](const CollectionName& name, const storage::CurationRecord& record) {
                  ToMessage(name, record, response->add_variants());
                });
  }

  absl::Status ListSlots(const v1::ListSlotsRequest& request, v1::ListSlotsResponse* response,
                         const CallContext& context) const {
    auto collection = OpenForRead(engine_, request.parent(), "", context);
    if (!collection.ok()) return collection.status();
    const auto curation = (*collection)->curation().snapshot();
    return List(request, {"slots", request.parent()}, CurationKind::kSlot, "", context, response,
                [&](const CollectionName& name, const storage::CurationRecord& record) {
                  ToMessage(name, record, curation->slots.Find(record.id()), response->add_slots());
                });
  }

  absl::Status Delete(const v1::DeleteSlotVariantRequest& request, const CallContext& context) const {
    if (auto status = CheckIds(request.slot(), request.id()); !status.ok()) return status;
    auto collection = OpenForRead(engine_, request.parent(), "", context);
    if (!collection.ok()) return collection.status();
    const SlotVariantId id{request.slot(), request.id()};
    if (auto status = CheckNotTested(**collection, id, "is deleted"); !status.ok()) return status;
    const auto curation = (*collection)->curation().snapshot();
    const CompiledSlot* slot = curation->slots.Find(id.slot);
    for (size_t i = 0; slot != nullptr && i < slot->shown.size(); ++i) {
      if (slot->shown[i]->id != id.variant) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          "variant '", id.variant, "' is shown by slot '", id.slot,
          "': activate another one that is for everybody, or roll the slot back, then delete it"));
    }
    auto written = Write(**collection, {CurationKind::kSlotVariant, id.Key(), {}, ExpectedOf(request)});
    return written.ok() ? absl::OkStatus() : NamedVariant(written.status());
  }

  absl::Status Activate(const v1::ActivateSlotVariantRequest& request, v1::Slot* response,
                        const CallContext& context) const {
    if (auto status = CheckSlotId("slot", request.slot()); !status.ok()) return status;
    if (auto status = CheckSlotId("variant", request.variant()); !status.ok()) return status;
    auto collection = OpenForRead(engine_, request.parent(), "", context);
    if (!collection.ok()) return collection.status();
    return Changed(**collection,
                   (*collection)
                       ->curation()
                       .ActivateVariant({request.slot(), request.variant(), request.by(), request.reason(),
                                         ExpectedOf(request)}),
                   response);
  }

  absl::Status Rollback(const v1::RollbackSlotRequest& request, v1::Slot* response,
                        const CallContext& context) const {
    if (auto status = CheckSlotId("slot", request.slot()); !status.ok()) return status;
    auto collection = OpenForRead(engine_, request.parent(), "", context);
    if (!collection.ok()) return collection.status();
    return Changed(
        **collection,
        (*collection)
            ->curation()
            .RollbackSlot({request.slot(), "", request.by(), request.reason(), ExpectedOf(request)}),
        response);
  }

  absl::Status GetSlot(const v1::GetSlotRequest& request, v1::GetSlotResponse* response,
                       const CallContext& context) const {
    if (auto status = CheckSlotId("slot", request.slot()); !status.ok()) return status;
    auto collection = OpenForRead(engine_, request.parent(), "", context);
    if (!collection.ok()) return collection.status();
    return SlotCall(engine_, host_, *collection).Answer(request, response);
  }

 private:
  static absl::StatusOr<CurationWritten> Write(Collection& collection, CurationWrite write) {
    std::vector<CurationWrite> writes;
    writes.push_back(std::move(write));
    auto written = collection.curation().Write(std::move(writes));
    if (!written.ok()) return written.status();
    if (!written->front().status.ok()) return written->front().status;
    return std::move(written->front());
  }

  static absl::Status Changed(Collection& collection, const absl::StatusOr<storage::CurationRecord>& record,
                              v1::Slot* response) {
    if (!record.ok()) return NamedVariant(record.status());
    const auto curation = collection.curation().snapshot();
    ToMessage(collection.name(), *record, curation->slots.Find(record->id()), response);
    return absl::OkStatus();
  }

  // What an experiment shows must stay what it was when it started.
  absl::Status CheckNotTested(const Collection& collection, const SlotVariantId& id, const char* what) const {
    std::vector<std::string> holders;
    for (const storage::ExperimentRecord& experiment : engine_->store().Experiments(collection.scope())) {
      if (!IsLive(experiment.state()) && !experiment.release_pending()) continue;
      for (const storage::ArmRecord& arm : experiment.arms()) {
        if (arm.slot_variant() == id.Name()) holders.push_back(experiment.id());
      }
    }
    if (holders.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat("variant '", id.variant, "' is an arm of experiment ",
                                                      absl::StrJoin(holders, ", "),
                                                      ", which runs: stop that before the variant ", what));
  }

  template <class Request, class Response, class Take>
  absl::Status List(const Request& request, const ListArguments& arguments, CurationKind kind,
                    const std::string& prefix, const CallContext& context, Response* response,
                    Take take) const {
    auto size = ReadPageSize(request.page_size());
    if (!size.ok()) return size.status();
    auto after = ReadIdListToken(request.page_token(), arguments);
    if (!after.ok()) return after.status();
    auto collection = OpenForRead(engine_, request.parent(), "", context);
    if (!collection.ok()) return collection.status();
    int taken = 0;
    size_t bytes = 0;
    std::string last;
    return engine_->store().ForEachCuration(
        (*collection)->scope(), kind, after->empty() ? prefix : *after,
        [&](const storage::CurationRecord& record) {
          if (!absl::StartsWith(record.id(), prefix)) return false;
          if (taken == *size || (taken > 0 && bytes + record.ByteSizeLong() > kMaxListPageBytes)) {
            response->set_next_page_token(MakeIdListToken(last, arguments));
            return false;
          }
          ++taken;
          bytes += record.ByteSizeLong();
          last = record.id();
          take((*collection)->name(), record);
          return true;
        });
  }

  Engine* engine_;
  ExperimentHost* host_;
};

}  // namespace

void RegisterSlots(Engine* engine, ExperimentHost* host, MethodRegistry* registry) {
  const SlotService s(engine, host);
  const std::string service = "waymark.v1.CurationService.";
  registry->Add<v1::PutSlotVariantRequest, v1::SlotVariant>(
      service + "PutSlotVariant", kWriting,
      [s](const auto& q, auto* r, const CallContext&) { return s.Put(q, r); });
  registry->Add<v1::GetSlotVariantRequest, v1::SlotVariant>(
      service + "GetSlotVariant", {},
      [s](const auto& q, auto* r, const CallContext& c) { return s.Get(q, r, c); });
  registry->Add<v1::ListSlotVariantsRequest, v1::ListSlotVariantsResponse>(
      service + "ListSlotVariants", {},
      [s](const auto& q, auto* r, const CallContext& c) { return s.ListVariants(q, r, c); });
  registry->Add<v1::DeleteSlotVariantRequest, v1::DeleteSlotVariantResponse>(
      service + "DeleteSlotVariant", kWriting,
      [s](const auto& q, auto*, const CallContext& c) { return s.Delete(q, c); });
  registry->Add<v1::ListSlotsRequest, v1::ListSlotsResponse>(
      service + "ListSlots", {},
      [s](const auto& q, auto* r, const CallContext& c) { return s.ListSlots(q, r, c); });
  registry->Add<v1::ActivateSlotVariantRequest, v1::Slot>(
      service + "ActivateSlotVariant", kWriting,
      [s](const auto& q, auto* r, const CallContext& c) { return s.Activate(q, r, c); });
  registry->Add<v1::RollbackSlotRequest, v1::Slot>(
      service + "RollbackSlot", kWriting,
      [s](const auto& q, auto* r, const CallContext& c) { return s.Rollback(q, r, c); });
  registry->Add<v1::GetSlotRequest, v1::GetSlotResponse>(
      service + "GetSlot", {},
      [s](const auto& q, auto* r, const CallContext& c) { return s.GetSlot(q, r, c); });
}

}  // namespace waymark
