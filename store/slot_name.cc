#include "store/slot_name.h"

#include <algorithm>
#include <cctype>

namespace waymark {
namespace {

std::optional<SlotVariantId> Split(std::string_view text, std::string_view between) {
  const size_t at = text.find(between);
  if (at == std::string_view::npos) return std::nullopt;
  SlotVariantId id{std::string(text.substr(0, at)), std::string(text.substr(at + between.size()))};
  if (!IsSlotId(id.slot) || !IsSlotId(id.variant)) return std::nullopt;
  return id;
}

}  // namespace

bool IsSlotId(std::string_view id) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_'; };
  return !id.empty() && id.size() <= 64 && id[0] != '.' && std::all_of(id.begin(), id.end(), plain);
}

std::string SlotVariantId::Name() const { return "slots/" + slot + "/variants/" + variant; }
std::string SlotVariantId::Key() const { return slot + "/" + variant; }

std::optional<SlotVariantId> ParseSlotVariantName(std::string_view name) {
  constexpr std::string_view kPrefix = "slots/";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  return Split(name.substr(kPrefix.size()), "/variants/");
}

std::optional<SlotVariantId> ParseSlotVariantKey(std::string_view key) { return Split(key, "/"); }

}  // namespace waymark
