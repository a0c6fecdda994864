#include "curation/slot_table.h"

#include <algorithm>
#include <utility>

namespace waymark {

bool CompiledVariant::Fits(const google::protobuf::Struct& context, absl::Time now) const {
  const int64_t now_us = absl::ToUnixMicros(now);
  if (now_us < record.valid_from_us()) return false;
  if (record.valid_until_us() != 0 && now_us >= record.valid_until_us()) return false;
  return targeting.Matches(context);
}

bool CompiledVariant::always() const {
  return targeting.everybody() && record.valid_from_us() == 0 && record.valid_until_us() == 0;
}

const CompiledVariant* CompiledSlot::Shown(const google::protobuf::Struct& context, absl::Time now) const {
  for (const auto& variant : shown) {
    if (variant->Fits(context, now)) return variant.get();
  }
  return nullptr;
}

const CompiledVariant* CompiledSlot::Find(const std::string& variant) const {
  const auto found = variants.find(variant);
  return found == variants.end() ? nullptr : found->second.get();
}

std::vector<std::string> ActiveStack(const storage::SlotRecord& slot) {
  std::vector<std::string> stack;
  for (const auto& activation : slot.activations()) {
    if (activation.rollback()) {
      if (!stack.empty()) stack.pop_back();
      // What lay below may have been deleted since; the roll-back says where it came to.
      while (!stack.empty() && stack.back() != activation.variant()) stack.pop_back();
    } else if (stack.empty() || stack.back() != activation.variant()) {
      stack.push_back(activation.variant());
    }
  }
  return stack;
}

absl::StatusOr<std::shared_ptr<const CompiledVariant>> CompileVariant(const std::string& id,
                                                                      const storage::CurationRecord& record) {
  const storage::SlotVariantRecord& variant = record.slot_variant();
  auto targeting = Targeting::Parse(variant.targeting(),
                                    {variant.targeting_fields().begin(), variant.targeting_fields().end()},
                                    "variant.targeting");
  if (!targeting.ok()) return targeting.status();
  return std::make_shared<const CompiledVariant>(
      CompiledVariant{id, variant, record.revision(), *std::move(targeting)});
}

std::shared_ptr<const CompiledSlot> CompileSlot(
    const std::string& id, const storage::SlotRecord& slot,
    std::map<std::string, std::shared_ptr<const CompiledVariant>> variants) {
  auto compiled = std::make_shared<CompiledSlot>();
  compiled->id = id;
  compiled->variants = std::move(variants);
  const std::vector<std::string> stack = ActiveStack(slot);
  for (auto at = stack.rbegin(); at != stack.rend(); ++at) {
    const auto found = compiled->variants.find(*at);
    if (found == compiled->variants.end()) continue;
    if (std::find(compiled->shown.begin(), compiled->shown.end(), found->second) != compiled->shown.end())
      continue;
    compiled->shown.push_back(found->second);
    if (found->second->always()) break;
  }
  return compiled;
}

const CompiledSlot* SlotTable::Find(const std::string& slot) const {
  if (slots_ == nullptr) return nullptr;
  const auto found = slots_->find(slot);
  return found == slots_->end() ? nullptr : found->second.get();
}

SlotTable SlotTable::With(const std::vector<std::shared_ptr<const CompiledSlot>>& slots) const {
  Slots next = slots_ == nullptr ? Slots() : *slots_;
  for (const auto& slot : slots) {
    if (slot->variants.empty()) {
      next.erase(slot->id);
    } else {
      next[slot->id] = slot;
    }
  }
  SlotTable table;
  table.slots_ = std::make_shared<const Slots>(std::move(next));
  return table;
}

}  // namespace waymark
