#include "pipeline/group_stage.h"

#include "absl/container/flat_hash_map.h"

namespace waymark {

GroupedOrder GroupRanked(absl::Span<const uint64_t> keys, size_t per_group, size_t most) {
  absl::flat_hash_map<uint64_t, size_t> places;
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto [place, is_new] = places.try_emplace(keys[i], groups.size());
    if (is_new) groups.emplace_back();
    std::vector<size_t>& members = groups[place->second];
    if (members.size() < per_group) members.push_back(i);
  }
  GroupedOrder grouped;
  for (const std::vector<size_t>& members : groups) {
    if (grouped.order.size() + members.size() > most) break;
    grouped.order.insert(grouped.order.end(), members.begin(), members.end());
    grouped.sizes.push_back(static_cast<uint32_t>(members.size()));
  }
  return grouped;
}

void PutFirst(absl::Span<const ScoredItem> best, size_t most, std::vector<Candidate>* candidates) {
  absl::flat_hash_map<ItemOrdinal, size_t> places;
  for (size_t i = 0; i < candidates->size(); ++i) places.emplace((*candidates)[i].item, i);
  std::vector<Candidate> chosen;
  std::vector<bool> taken(candidates->size(), false);
  for (const ScoredItem& item : best) {
    if (chosen.size() == most) break;
    const auto place = places.find(item.item);
    if (place == places.end()) {
      chosen.emplace_back().item = item.item;
    } else {
      chosen.push_back((*candidates)[place->second]);
      taken[place->second] = true;
    }
  }
  for (size_t i = 0; i < taken.size() && chosen.size() < most; ++i) {
    if (!taken[i]) chosen.push_back(std::move((*candidates)[i]));
  }
  *candidates = std::move(chosen);
}

Page TakeGroups(absl::Span<const uint32_t> sizes, size_t next, size_t page_size,
                const std::function<bool(size_t)>& visible) {
  Page page;
  size_t begin = 0, shown = 0;
  for (const uint32_t size : sizes) {
    const size_t end = begin + size;
    if (begin >= next && shown < page_size) {
      const size_t before = page.indexes.size();
      for (size_t i = begin; i < end; ++i) {
        if (visible(i)) page.indexes.push_back(i);
      }
      shown += page.indexes.size() > before;
      page.next = end;
    }
    begin = end;
  }
  if (next >= begin) page.next = begin;
  return page;
}

}  // namespace waymark
