#include "catalog/group_items.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "catalog/column_field.h"
#include "catalog/field_value.h"
#include "catalog/item_order.h"
#include "catalog/item_walk.h"

namespace waymark {
namespace {

using storage::FieldRecord;
using Entry = ItemOrder::Entry;

// Keys of items that stand alone; no term and no whole number up to 2^53 has this bit.
constexpr uint64_t kAlone = uint64_t{1} << 63;

class GroupKeys {
 public:
  GroupKeys(const Field& field, const ItemColumns& columns)
      : numbers_(field.type() == FieldRecord::KEYWORD ? nullptr : columns.FindNumbers(field.name())),
        keywords_(field.type() == FieldRecord::KEYWORD ? columns.FindKeywords(field.name()) : nullptr) {}

  uint64_t Of(ItemOrdinal item) const {
    if (keywords_ != nullptr) {
      const auto terms = keywords_->Terms(item);
      if (!terms.empty()) return terms[0];
    } else if (numbers_ != nullptr) {
      const double number = numbers_->First(item);
      // Sign and size: whole numbers keep within 2^53.
      if (!std::isnan(number)) return static_cast<uint64_t>(std::abs(number)) << 1 | (number < 0 ? 1 : 0);
    }
    return kAlone | item;
  }

  std::optional<std::string> TextOf(ItemOrdinal item, FieldType type) const {
    if (keywords_ != nullptr) {
      const auto terms = keywords_->Terms(item);
      if (terms.empty()) return std::nullopt;
      return keywords_->TextOf(terms[0]);
    }
    const double number = numbers_ == nullptr ? NAN : numbers_->First(item);
    if (std::isnan(number)) return std::nullopt;
    if (type == FieldRecord::BOOLEAN) return number != 0 ? "true" : "false";
    return NumberText(number);
  }

 private:
  const NumberColumn* numbers_;
  const KeywordColumn* keywords_;
};

// The groups whose best items come first, each known by its best so far. Groups that fall out may come back
// with a better item, so the end of a pass is exact.
class BestGroups {
 public:
  BestGroups(const ItemOrder& order, size_t limit)
      : limit_(limit),
        ordered_([&order](const Item& a, const Item& b) { return order.Before(a.first, b.first); }) {}

  void Offer(const Entry& entry, uint64_t key) {
    const bool full = ordered_.size() == limit_;
    if (full && !ordered_.key_comp()({entry, key}, *ordered_.rbegin())) return;
    const auto held = by_key_.find(key);
    if (held != by_key_.end()) {
      if (!ordered_.key_comp()({entry, key}, *held->second)) return;
      ordered_.erase(held->second);
      by_key_.erase(held);
    } else if (full) {
      by_key_.erase(std::prev(ordered_.end())->second);
      ordered_.erase(std::prev(ordered_.end()));
    }
    by_key_[key] = ordered_.emplace(entry, key).first;
  }

  // Keys, best first.
  std::vector<uint64_t> Keys() const {
    std::vector<uint64_t> keys;
    for (const Item& item : ordered_) keys.push_back(item.second);
    return keys;
  }

 private:
  using Item = std::pair<Entry, uint64_t>;
  using Ordered = std::set<Item, std::function<bool(const Item&, const Item&)>>;
  const size_t limit_;
  Ordered ordered_;
  absl::flat_hash_map<uint64_t, Ordered::iterator> by_key_;
};

}  // namespace

absl::StatusOr<Field> FindGroupField(const Schema& schema, std::string_view name, std::string_view place) {
  static constexpr FieldType kTypes[] = {FieldRecord::KEYWORD, FieldRecord::INTEGER, FieldRecord::BOOLEAN};
  auto field = FindColumnField(schema, name, place, kTypes);
  if (!field.ok()) return field.status();
  return **field;
}

absl::StatusOr<std::vector<ScoredItem>> GroupItems(const Catalog& catalog, const GroupQuery& query,
                                                   const SortOrder& order, const ItemSet* allowed,
                                                   const std::vector<ScoredItem>* matches,
                                                   absl::FunctionRef<bool()> expired) {
  if (query.limit == 0 || query.per_group == 0) return std::vector<ScoredItem>();
  std::vector<ScoredItem> best;
  bool complete = false;
  catalog.Read([&](const ItemColumns& columns) {
    const ItemOrder bound(order, columns);
    const GroupKeys keys(query.field, columns);
    BestGroups groups(bound, query.limit);
    const auto offer = [&](const ScoredItem& item) { groups.Offer(bound.Make(item), keys.Of(item.item)); };
    if (!ForEachMatch(columns, allowed, matches, expired, offer)) return;

    const std::vector<uint64_t> chosen = groups.Keys();
    absl::flat_hash_map<uint64_t, std::vector<Entry>> members;  // heaps, the last on top
    for (const uint64_t key : chosen) members[key];
    const auto before = [&](const Entry& a, const Entry& b) { return bound.Before(a, b); };
    const auto gather = [&](const ScoredItem& item) {
      const auto found = members.find(keys.Of(item.item));
      if (found == members.end()) return;
      std::vector<Entry>& heap = found->second;
      heap.push_back(bound.Make(item));
      std::push_heap(heap.begin(), heap.end(), before);
      if (heap.size() <= query.per_group) return;
      std::pop_heap(heap.begin(), heap.end(), before);
      heap.pop_back();
    };
    if (!ForEachMatch(columns, allowed, matches, expired, gather)) return;
    complete = true;
    for (const uint64_t key : chosen) {
      std::vector<Entry>& heap = members[key];
      if (best.size() + heap.size() > query.limit) break;
      std::sort_heap(heap.begin(), heap.end(), before);
      for (const Entry& entry : heap) best.push_back({entry.item, entry.score});
    }
  });
  if (!complete) return absl::DeadlineExceededError("the deadline passed while items were grouped");
  return best;
}

std::vector<GroupOfItem> ReadGroups(const Catalog& catalog, const Field& field,
                                    absl::Span<const ItemOrdinal> items) {
  std::vector<GroupOfItem> groups;
  catalog.Read([&](const ItemColumns& columns) {
    const GroupKeys keys(field, columns);
    for (const ItemOrdinal item : items) groups.push_back({keys.Of(item), keys.TextOf(item, field.type())});
  });
  return groups;
}

}  // namespace waymark
