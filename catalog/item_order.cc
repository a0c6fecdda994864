#include "catalog/item_order.h"

#include <algorithm>
#include <limits>

namespace waymark {
namespace {

// After every value, which are finite.
constexpr double kLast = std::numeric_limits<double>::infinity();

}  // namespace

ItemOrder::ItemOrder(const SortOrder& order, const ItemColumns& columns) {
  for (const SortKey& key : order.keys) {
    Key& bound = keys_.emplace_back();
    bound.descending = key.descending;
    if (key.from) {
      bound.points = columns.FindPoints(key.field.name());
      bound.from = *key.from;
    } else if (key.field.type() == storage::FieldRecord::KEYWORD) {
      bound.keywords = columns.FindKeywords(key.field.name());
    } else {
      bound.numbers = columns.FindNumbers(key.field.name());
    }
  }
}

ItemOrder::Entry ItemOrder::Make(const ScoredItem& item) const {
  Entry entry{.item = item.item, .score = item.score};
  if (!keys_.empty()) Read(keys_[0], &entry);
  return entry;
}

void ItemOrder::Read(const Key& key, Entry* entry) const {
  entry->number = kLast;
  if (key.numbers != nullptr) {
    key.numbers->ForEachValue(entry->item, [&](double value) {
      entry->number = std::min(entry->number, key.descending ? -value : value);
    });
  } else if (key.points != nullptr) {
    if (!key.descending) {
      entry->number = key.points->NearestMetres(entry->item, key.from);
    } else if (const double farthest = key.points->FarthestMetres(entry->item, key.from); farthest >= 0) {
      entry->number = -farthest;
    }
  } else if (key.keywords != nullptr) {
    for (const TermNumber term : key.keywords->Terms(entry->item)) {
      const int order =
          entry->number == kLast ? -1 : key.keywords->TextOf(term).compare(key.keywords->TextOf(entry->term));
      if (entry->number == kLast || (key.descending ? order > 0 : order < 0)) entry->term = term;
      entry->number = 0;
    }
  }
}

int ItemOrder::Compare(const Key& key, const Entry& a, const Entry& b) const {
  if (a.number != b.number) return a.number < b.number ? -1 : 1;
  if (key.keywords == nullptr || a.number == kLast || a.term == b.term) return 0;
  const int order = key.keywords->TextOf(a.term).compare(key.keywords->TextOf(b.term));
  return key.descending ? -order : order;
}

bool ItemOrder::Before(const Entry& a, const Entry& b) const {
  for (size_t k = 0; k < keys_.size(); ++k) {
    int order = 0;
    if (k == 0) {
      order = Compare(keys_[0], a, b);
    } else {
      Entry left{.item = a.item}, right{.item = b.item};
      Read(keys_[k], &left);
      Read(keys_[k], &right);
      order = Compare(keys_[k], left, right);
    }
    if (order != 0) return order < 0;
  }
  if (a.score != b.score) return a.score > b.score;
  return a.item < b.item;
}

}  // namespace waymark
