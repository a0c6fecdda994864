// A set of item ordinals: what a filter leaves.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "store/ids.h"

namespace waymark {

// Immutable once shared; then thread-safe. A compressed bitmap inside.
class ItemSet {
 public:
  ItemSet();
  ~ItemSet();
  ItemSet(ItemSet&&) noexcept;
  ItemSet& operator=(ItemSet&&) noexcept;
  static ItemSet Of(const std::vector<ItemOrdinal>& items);
  static ItemSet Both(const ItemSet& a, const ItemSet& b);
  static ItemSet Either(const ItemSet& a, const ItemSet& b);
  static ItemSet Without(const ItemSet& a, const ItemSet& b);  // those of `a` that `b` has not

  bool Contains(ItemOrdinal item) const;
  uint64_t Size() const;
  // The item that `rank` others come before; rank < Size().
  ItemOrdinal At(uint64_t rank) const;
  // In order, until `visit` answers false.
  void ForEach(const std::function<bool(ItemOrdinal)>& visit) const;
  std::vector<ItemOrdinal> ToVector() const;
  // The items as a dense bitmap of `bits` bits, least significant bit first: what FAISS selectors take.
  std::vector<uint8_t> ToBitmap(uint32_t bits) const;

  struct Impl;
  explicit ItemSet(std::unique_ptr<Impl> impl);
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace waymark
