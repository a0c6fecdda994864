#include "serving/services/slot_messages.h"

#include "absl/strings/str_cat.h"
#include "serving/resource_name.h"
#include "serving/services/time_messages.h"
#include "serving/status_details.h"
#include "store/slot_name.h"

namespace waymark {
namespace {

using storage::FieldRecord;

absl::Status FillValidity(const v1::SlotVariant& from, storage::SlotVariantRecord* to) {
  if (from.has_valid_from()) {
    auto time = ReadTimestamp(from.valid_from(), "variant.valid_from");
    if (!time.ok()) return time.status();
    to->set_valid_from_us(absl::ToUnixMicros(*time));
  }
  if (from.has_valid_until()) {
    auto time = ReadTimestamp(from.valid_until(), "variant.valid_until");
    if (!time.ok()) return time.status();
    if (absl::ToUnixMicros(*time) <= 0) return InvalidField("variant.valid_until", "is before 1970");
    to->set_valid_until_us(absl::ToUnixMicros(*time));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<storage::CurationRecord> RecordOf(const v1::SlotVariant& variant) {
  storage::CurationRecord made;
  storage::SlotVariantRecord& record = *made.mutable_slot_variant();
  record.set_description(variant.description());
  *record.mutable_payload() = variant.payload();
  record.set_targeting(variant.targeting());
  for (int i = 0; i < variant.targeting_attributes_size(); ++i) {
    const v1::SlotVariant::Attribute& attribute = variant.targeting_attributes(i);
    FieldRecord::Type type = FieldRecord::TYPE_UNSPECIFIED;
    const bool known = FieldRecord::Type_Parse(attribute.type(), &type);
    if (!known || type < FieldRecord::KEYWORD || type > FieldRecord::TIME) {
      return InvalidField(
          absl::StrCat("variant.targeting_attributes[", i, "].type"),
          absl::StrCat("is '", attribute.type(), "'; it takes KEYWORD, INTEGER, FLOATING, BOOLEAN or TIME"));
    }
    FieldRecord& field = *record.add_targeting_fields();
    field.set_name(attribute.name());
    field.set_type(type);
  }
  if (auto status = FillValidity(variant, &record); !status.ok()) return status;
  return made;
}

void ToMessage(const CollectionName& collection, const storage::CurationRecord& record,
               v1::SlotVariant* variant) {
  const storage::SlotVariantRecord& from = record.slot_variant();
  if (const auto id = ParseSlotVariantKey(record.id())) {
    variant->set_name(absl::StrCat(FormatResource(collection, "slots", id->slot), "/variants/", id->variant));
    variant->set_slot(id->slot);
    variant->set_id(id->variant);
  }
  variant->set_description(from.description());
  *variant->mutable_payload() = from.payload();
  variant->set_targeting(from.targeting());
  for (const FieldRecord& field : from.targeting_fields()) {
    v1::SlotVariant::Attribute* attribute = variant->add_targeting_attributes();
    attribute->set_name(field.name());
    attribute->set_type(FieldRecord::Type_Name(field.type()));
  }
  if (from.valid_from_us() != 0) SetTimestamp(from.valid_from_us(), variant->mutable_valid_from());
  if (from.valid_until_us() != 0) SetTimestamp(from.valid_until_us(), variant->mutable_valid_until());
  variant->set_revision(record.revision());
  SetTimestamp(record.create_time_us(), variant->mutable_create_time());
  SetTimestamp(record.update_time_us(), variant->mutable_update_time());
}

void ToMessage(const CollectionName& collection, const storage::CurationRecord& record,
               const CompiledSlot* compiled, v1::Slot* slot) {
  slot->set_name(FormatResource(collection, "slots", record.id()));
  slot->set_id(record.id());
  slot->set_revision(record.revision());
  for (const auto& from : record.slot().activations()) {
    v1::Slot::Activation* activation = slot->add_activations();
    activation->set_variant(from.variant());
    SetTimestamp(from.time_us(), activation->mutable_time());
    activation->set_by(from.by());
    activation->set_reason(from.reason());
    activation->set_rollback(from.rollback());
  }
  if (compiled == nullptr) return;
  for (const auto& variant : compiled->shown) {
    if (slot->active().empty()) {
      slot->set_active(variant->id);
    } else {
      slot->add_fallbacks(variant->id);
    }
  }
}

}  // namespace waymark
