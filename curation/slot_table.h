// Content slots of a collection as requests look them up: which variant a slot shows, to whom, and when.
//
//   const CompiledSlot* slot = snapshot->slots.Find("hero");
//   const CompiledVariant* shown = slot->Shown(context, now);     // null: nothing
//
// Immutable, cheap to copy; thread-safe.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "catalog/targeting.h"
#include "google/protobuf/struct.pb.h"
#include "waymark/storage/curation.pb.h"

namespace waymark {

struct CompiledVariant {
  std::string id;
  storage::SlotVariantRecord record;
  int64_t revision = 0;
  Targeting targeting;

  // Valid now, and meant for a request with this context.
  bool Fits(const google::protobuf::Struct& context, absl::Time now) const;
  // For everybody, for ever.
  bool always() const;
};

struct CompiledSlot {
  std::string id;
  std::map<std::string, std::shared_ptr<const CompiledVariant>> variants;
  // Activated and not taken back, newest first, as far as requests can come to them.
  std::vector<std::shared_ptr<const CompiledVariant>> shown;

  const CompiledVariant* Shown(const google::protobuf::Struct& context, absl::Time now) const;
  const CompiledVariant* Find(const std::string& variant) const;  // null: none
};

// Activated variants that have not been taken back, newest last, each once: a roll-back goes back along them,
// and a roll-back of a roll-back goes further back.
std::vector<std::string> ActiveStack(const storage::SlotRecord& slot);

// INVALID_ARGUMENT: a targeting that cannot be read.
absl::StatusOr<std::shared_ptr<const CompiledVariant>> CompileVariant(const std::string& id,
                                                                      const storage::CurationRecord& record);
std::shared_ptr<const CompiledSlot> CompileSlot(
    const std::string& id, const storage::SlotRecord& slot,
    std::map<std::string, std::shared_ptr<const CompiledVariant>> variants);

class SlotTable {
 public:
  const CompiledSlot* Find(const std::string& slot) const;  // null: none
  // With `slots` in the place of those of the same ids; one without variants is taken out.
  SlotTable With(const std::vector<std::shared_ptr<const CompiledSlot>>& slots) const;

 private:
  using Slots = std::map<std::string, std::shared_ptr<const CompiledSlot>>;
  std::shared_ptr<const Slots> slots_;  // null: none
};

}  // namespace waymark
