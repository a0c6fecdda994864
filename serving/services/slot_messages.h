// Content slots between the API and the store.
#pragma once
#include "absl/status/statusor.h"
#include "curation/slot_table.h"
#include "store/ids.h"
#include "waymark/storage/curation.pb.h"
#include "waymark/v1/slot.pb.h"

namespace waymark {

// INVALID_ARGUMENT: times that are none, types of attributes that this version does not know. All else is
// checked by curation/curation_check.h.
absl::StatusOr<storage::CurationRecord> RecordOf(const v1::SlotVariant& variant);

void ToMessage(const CollectionName& collection, const storage::CurationRecord& record,
               v1::SlotVariant* variant);
// `compiled`: null, or the slot as it serves.
void ToMessage(const CollectionName& collection, const storage::CurationRecord& record,
               const CompiledSlot* compiled, v1::Slot* slot);

}  // namespace waymark
