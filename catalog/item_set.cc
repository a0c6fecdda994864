#include "catalog/item_set.h"

#include <utility>

#include "catalog/dense_bitmap.h"
#include "catalog/item_set_impl.h"

namespace waymark {

ItemSet::ItemSet() : impl_(std::make_unique<Impl>()) {}
ItemSet::ItemSet(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ItemSet::~ItemSet() = default;
ItemSet::ItemSet(ItemSet&&) noexcept = default;
ItemSet& ItemSet::operator=(ItemSet&&) noexcept = default;

ItemSet ItemSet::Of(const std::vector<ItemOrdinal>& items) {
  return MakeItemSet(Bitmap(items.size(), items.data()));
}

ItemSet ItemSet::Both(const ItemSet& a, const ItemSet& b) {
  return MakeItemSet(a.impl_->bits & b.impl_->bits);
}
ItemSet ItemSet::Either(const ItemSet& a, const ItemSet& b) {
  return MakeItemSet(a.impl_->bits | b.impl_->bits);
}
ItemSet ItemSet::Without(const ItemSet& a, const ItemSet& b) {
  return MakeItemSet(a.impl_->bits - b.impl_->bits);
}

bool ItemSet::Contains(ItemOrdinal item) const { return impl_->bits.contains(item); }

uint64_t ItemSet::Size() const { return impl_->bits.cardinality(); }

ItemOrdinal ItemSet::At(uint64_t rank) const {
  uint32_t item = kNoItem;
  impl_->bits.select(static_cast<uint32_t>(rank), &item);
  return item;
}

void ItemSet::ForEach(const std::function<bool(ItemOrdinal)>& visit) const {
  const auto call = [](uint32_t item, void* visitor) {
    return (*static_cast<const std::function<bool(ItemOrdinal)>*>(visitor))(item);
  };
  impl_->bits.iterate(call, const_cast<std::function<bool(ItemOrdinal)>*>(&visit));
}

std::vector<ItemOrdinal> ItemSet::ToVector() const {
  std::vector<ItemOrdinal> items(Size());
  if (!items.empty()) impl_->bits.toUint32Array(items.data());
  return items;
}

std::vector<uint8_t> ItemSet::ToBitmap(uint32_t bits) const { return ToDense(impl_->bits, bits); }

}  // namespace waymark
