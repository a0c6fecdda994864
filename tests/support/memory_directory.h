// An ItemDirectory in memory: ids and content as a test or a benchmark gives them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "candidates/item_directory.h"

namespace waymark::tests {

class MemoryDirectory : public ItemDirectory {
 public:
  ItemOrdinal Add(const std::string& id, std::vector<uint64_t> content = {}) {
    ordinals_[id] = static_cast<ItemOrdinal>(ids_.size());
    ids_.push_back(id);
    content_.push_back(std::move(content));
    return static_cast<ItemOrdinal>(ids_.size() - 1);
  }
  // The item of this id, added when it is new.
  ItemOrdinal FindOrAdd(const std::string& id) {
    const auto found = Find(id);
    return found ? *found : Add(id);
  }
  void SetContent(ItemOrdinal item, std::vector<uint64_t> content) { content_.at(item) = std::move(content); }
  std::optional<ItemOrdinal> Find(std::string_view id) const override {
    const auto found = ordinals_.find(std::string(id));
    if (found == ordinals_.end()) return std::nullopt;
    return found->second;
  }
  std::vector<std::string> Ids(absl::Span<const ItemOrdinal> items) const override {
    std::vector<std::string> ids;
    for (ItemOrdinal item : items) ids.push_back(ids_.at(item));
    return ids;
  }
  ItemOrdinal End() const override { return static_cast<ItemOrdinal>(ids_.size()); }
  bool Live(ItemOrdinal) const override { return true; }
  void Content(absl::Span<const ItemOrdinal> items,
               std::vector<std::vector<uint64_t>>* hashes) const override {
    hashes->clear();
    for (ItemOrdinal item : items) {
      hashes->push_back(item < content_.size() ? content_[item] : std::vector<uint64_t>{});
    }
  }

 private:
  std::map<std::string, ItemOrdinal> ordinals_;
  std::vector<std::string> ids_;
  std::vector<std::vector<uint64_t>> content_;
};

}  // namespace waymark::tests
