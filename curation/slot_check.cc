// CheckSlotVariant.
#include "absl/strings/str_cat.h"
#include "catalog/targeting.h"
#include "curation/curation_check.h"
#include "curation/curation_limits.h"
#include "store/slot_name.h"
#include "store/struct_fields.h"
#include "store/text_check.h"

namespace waymark {

absl::Status CheckSlotVariant(const std::string& key, const storage::SlotVariantRecord& variant) {
  if (!ParseSlotVariantKey(key)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "variant.id: '", Shortened(key),
        "' is no slot and variant; each takes 1 to 64 letters, digits, '.', '-' or '_', the first no '.'"));
  }
  if (auto status = CheckText("variant.description", variant.description(), kMostDescriptionBytes);
      !status.ok())
    return status;
  if (auto status = CheckFields("variant.payload", variant.payload()); !status.ok()) return status;
  if (const size_t bytes = variant.payload().ByteSizeLong(); bytes > kMostPayloadBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("variant.payload: has ", bytes, " bytes; it takes at most ", kMostPayloadBytes));
  }
  if (variant.valid_until_us() != 0 && variant.valid_until_us() <= variant.valid_from_us()) {
    return absl::InvalidArgumentError(
        "variant.valid_until: is not after valid_from: it would never be shown");
  }
  return Targeting::Parse(variant.targeting(),
                          {variant.targeting_fields().begin(), variant.targeting_fields().end()},
                          "variant.targeting")
      .status();
}

}  // namespace waymark
