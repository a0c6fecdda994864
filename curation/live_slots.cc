// LiveCuration's content slots: which variant is shown, and going back.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "curation/curation_check.h"
#include "curation/curation_limits.h"
#include "curation/live_curation.h"
#include "store/slot_name.h"

namespace waymark {

using storage::SlotRecord;

absl::Status LiveCuration::CheckVariant(const CurationWrite& write, const CurationSnapshot& now) const {
  if (auto status = CheckSlotVariant(write.id, write.record->slot_variant()); !status.ok()) return status;
  const auto id = ParseSlotVariantKey(write.id);
  const CompiledSlot* slot = now.slots.Find(id->slot);
  if (slot == nullptr || slot->variants.size() < kMostVariantsOfSlot || slot->Find(id->variant) != nullptr)
    return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("slot '", id->slot, "' has ", slot->variants.size(),
                   " variants already, which is the most; delete some first"));
}

absl::StatusOr<std::shared_ptr<const CompiledSlot>> LiveCuration::ReadSlot(const std::string& slot) const {
  std::map<std::string, std::shared_ptr<const CompiledVariant>> variants;
  const std::string prefix = slot + "/";
  auto status = store_->ForEachCuration(
      scope_, CurationKind::kSlotVariant, prefix, [&](const storage::CurationRecord& record) {
        if (!absl::StartsWith(record.id(), prefix)) return false;
        const std::string id = record.id().substr(prefix.size());
        auto compiled = CompileVariant(id, record);
        if (compiled.ok()) {
          variants[id] = *std::move(compiled);
        } else {
          spdlog::error("slot_variant_left_out id=\"{}\" reason=\"{}\"", record.id(),
                        std::string(compiled.status().message()));
        }
        return true;
      });
  if (!status.ok()) return status;
  auto record = store_->GetCuration(scope_, CurationKind::kSlot, slot);
  if (!record.ok() && !absl::IsNotFound(record.status())) return record.status();
  return CompileSlot(slot, record.ok() ? record->slot() : SlotRecord(), std::move(variants));
}

absl::StatusOr<storage::CurationRecord> LiveCuration::ChangeSlot(
    const SlotChange& change, const std::function<absl::StatusOr<std::string>(const SlotRecord&)>& next,
    bool rollback) {
  if (!IsSlotId(change.slot)) {
    return absl::InvalidArgumentError(
        absl::StrCat("slot: '", change.slot,
                     "' is no slot; it takes 1 to 64 letters, digits, '.', '-' or '_', the first no '.'"));
  }
  // Somebody else's change in between is looked at again, unless the caller has said what must be there.
  while (true) {
    auto before = store_->GetCuration(scope_, CurationKind::kSlot, change.slot);
    if (!before.ok() && !absl::IsNotFound(before.status())) return before.status();
    storage::CurationRecord record;
    if (before.ok()) *record.mutable_slot() = before->slot();
    SlotRecord* slot = record.mutable_slot();
    auto variant = next(*slot);
    if (!variant.ok()) return variant.status();
    if (slot->activations_size() >= kMostActivations) {
      slot->mutable_activations()->DeleteSubrange(0, slot->activations_size() - kMostActivations + 1);
    }
    SlotRecord::Activation* activation = slot->add_activations();
    activation->set_variant(*variant);
    activation->set_time_us(absl::ToUnixMicros(absl::Now()));
    activation->set_by(change.by);
    activation->set_reason(change.reason);
    activation->set_rollback(rollback);
    const int64_t revision = before.ok() ? before->revision() : 0;
    std::vector<CurationWrite> writes;
    writes.push_back(
        {CurationKind::kSlot, change.slot, std::move(record), change.expected_revision.value_or(revision)});
    auto written = Write(std::move(writes));
    if (!written.ok()) return written.status();
    const absl::Status& status = written->front().status;
    if (status.ok()) return *written->front().after;
    const bool raced = absl::IsAborted(status) || absl::IsAlreadyExists(status);
    if (!raced || change.expected_revision) return status;
  }
}

absl::StatusOr<storage::CurationRecord> LiveCuration::ActivateVariant(const SlotChange& change) {
  return ChangeSlot(
      change,
      [&](const SlotRecord&) -> absl::StatusOr<std::string> {
        const SlotVariantId id{change.slot, change.variant};
        auto there = store_->GetCuration(scope_, CurationKind::kSlotVariant, id.Key());
        if (!there.ok()) return there.status();
        return change.variant;
      },
      /*rollback=*/false);
}

absl::StatusOr<storage::CurationRecord> LiveCuration::RollbackSlot(const SlotChange& change) {
  return ChangeSlot(
      change,
      [&](const SlotRecord& slot) -> absl::StatusOr<std::string> {
        const std::vector<std::string> stack = ActiveStack(slot);
        if (stack.empty()) {
          return absl::FailedPreconditionError(
              absl::StrCat("slot '", change.slot, "' shows nothing, so there is nothing to go back from"));
        }
        for (auto at = stack.rbegin() + 1; at != stack.rend(); ++at) {
          const SlotVariantId id{change.slot, *at};
          if (store_->GetCuration(scope_, CurationKind::kSlotVariant, id.Key()).ok()) return *at;
        }
        return std::string();
      },
      /*rollback=*/true);
}

}  // namespace waymark
