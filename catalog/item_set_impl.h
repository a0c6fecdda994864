// What an ItemSet is made of. For catalog/ alone: other folders see no Roaring.
#pragma once
#include <roaring/roaring.hh>

#include "catalog/item_set.h"

namespace roaring {}  // namespace roaring

namespace waymark {
namespace bitmap_internal {
using namespace ::roaring;
using Type = Roaring;
}  // namespace bitmap_internal

using Bitmap = bitmap_internal::Type;

struct ItemSet::Impl {
  Bitmap bits;
};

inline ItemSet MakeItemSet(Bitmap bits) {
  return ItemSet(std::make_unique<ItemSet::Impl>(ItemSet::Impl{std::move(bits)}));
}

}  // namespace waymark
