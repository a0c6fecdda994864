// Names of variants of content slots, as experiments and tokens write them: slots/{s}/variants/{v}; as keys
// of the store: {s}/{v}.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace waymark {

// 1 to 64 letters, digits, '.', '-' or '_', the first one no '.': it stands in paths.
bool IsSlotId(std::string_view id);

struct SlotVariantId {
  std::string slot, variant;
  bool operator==(const SlotVariantId&) const = default;

  std::string Name() const;  // slots/{s}/variants/{v}
  std::string Key() const;   // {s}/{v}
};

// None: it is no such name.
std::optional<SlotVariantId> ParseSlotVariantName(std::string_view name);
std::optional<SlotVariantId> ParseSlotVariantKey(std::string_view key);

}  // namespace waymark
