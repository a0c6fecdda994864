#include "index/compiled_segment.h"

#include <algorithm>

namespace waymark {

std::optional<DocNumber> CompiledSegment::Find(ItemOrdinal item) const {
  if (in_order()) {
    auto after = std::upper_bound(ordinals_.begin(), ordinals_.end(), item);
    if (after == ordinals_.begin() || *(after - 1) != item) return std::nullopt;
    return static_cast<DocNumber>(after - ordinals_.begin() - 1);
  }
  auto after = std::upper_bound(by_ordinal_.begin(), by_ordinal_.end(), item,
                                [&](ItemOrdinal wanted, DocNumber doc) { return wanted < ordinals_[doc]; });
  if (after == by_ordinal_.begin() || ordinals_[*(after - 1)] != item) return std::nullopt;
  return *(after - 1);
}

uint64_t TermKey(std::string_view term) {
  uint64_t key = 0;
  for (size_t i = 0; i < 8; ++i) key = key << 8 | (i < term.size() ? static_cast<uint8_t>(term[i]) : 0);
  return key;
}

TermIndex CompiledSegment::LowerBound(std::string_view text) const {
  // The keys lie together: most of the way is gone among them.
  const auto [first, last] = std::equal_range(term_keys_.begin(), term_keys_.end(), TermKey(text));
  const size_t before = static_cast<size_t>(first - term_keys_.begin());
  TermIndex low = static_cast<TermIndex>(before == 0 ? 0 : (before - 1) * kTermsPerKey);
  TermIndex high = static_cast<TermIndex>(
      std::min(term_count(), static_cast<size_t>(last - term_keys_.begin()) * kTermsPerKey));
  while (low < high) {
    const TermIndex middle = low + (high - low) / 2;
    if (term(middle) < text) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::optional<TermIndex> CompiledSegment::FindTerm(std::string_view text) const {
  const TermIndex found = LowerBound(text);
  if (found == term_count() || term(found) != text) return std::nullopt;
  return found;
}

}  // namespace waymark
