#include "catalog/item_set.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "catalog/item_set_impl.h"

namespace waymark {
namespace {

static_assert(std::endian::native == std::endian::little, "dense bitmaps are copied as bytes");

// Readers of the portable form of a Roaring bitmap (github.com/RoaringBitmap/RoaringFormatSpec). Going
// through it lets ToBitmap copy whole containers with the library's stable interface; the bytes are our own,
// just made, so they are not checked.
constexpr uint32_t kCookieWithRuns = 12347;
constexpr uint32_t kSmallestWithOffsets = 4;
constexpr uint32_t kArrayLimit = 4096;
constexpr size_t kBitsetBytes = 8192;

template <typename T>
T Take(const char** at) {
  T value;
  std::memcpy(&value, *at, sizeof(T));
  *at += sizeof(T);
  return value;
}

void SetBit(uint32_t bit, std::vector<uint8_t>* out) {
  if (bit < out->size() * 8) (*out)[bit / 8] |= static_cast<uint8_t>(1u << (bit % 8));
}

void SetRange(uint32_t first, uint64_t last, std::vector<uint8_t>* out) {
  if (out->empty() || first >= out->size() * 8) return;
  last = std::min<uint64_t>(last, out->size() * 8 - 1);
  uint64_t bit = first;
  for (; bit <= last && bit % 8 != 0; ++bit) SetBit(static_cast<uint32_t>(bit), out);
  if (bit + 8 <= last + 1) {
    const size_t bytes = (last + 1 - bit) / 8;
    std::memset(out->data() + bit / 8, 0xFF, bytes);
    bit += bytes * 8;
  }
  for (; bit <= last; ++bit) SetBit(static_cast<uint32_t>(bit), out);
}

void CopyBits(uint32_t base, const char* bits, std::vector<uint8_t>* out) {
  const size_t from = base / 8;
  if (from < out->size()) std::memcpy(out->data() + from, bits, std::min(kBitsetBytes, out->size() - from));
}

}  // namespace

ItemSet::ItemSet() : impl_(std::make_unique<Impl>()) {}
ItemSet::ItemSet(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ItemSet::~ItemSet() = default;
ItemSet::ItemSet(ItemSet&&) noexcept = default;
ItemSet& ItemSet::operator=(ItemSet&&) noexcept = default;

ItemSet ItemSet::Of(const std::vector<ItemOrdinal>& items) {
  return MakeItemSet(Bitmap(items.size(), items.data()));
}

bool ItemSet::Contains(ItemOrdinal item) const { return impl_->bits.contains(item); }

uint64_t ItemSet::Size() const { return impl_->bits.cardinality(); }

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

std::vector<uint8_t> ItemSet::ToBitmap(uint32_t bits) const {
  std::vector<uint8_t> out((static_cast<size_t>(bits) + 7) / 8, 0);
  if (out.empty() || impl_->bits.isEmpty()) return out;
  std::vector<char> portable(impl_->bits.getSizeInBytes());
  impl_->bits.write(portable.data());

  const char* at = portable.data();
  const uint32_t cookie = Take<uint32_t>(&at);
  const bool runs = (cookie & 0xFFFF) == kCookieWithRuns;
  const uint32_t containers = runs ? (cookie >> 16) + 1 : Take<uint32_t>(&at);
  const char* run_flags = at;
  if (runs) at += (containers + 7) / 8;
  const char* keys = at;
  at += 4 * static_cast<size_t>(containers);
  if (!runs || containers >= kSmallestWithOffsets) at += 4 * static_cast<size_t>(containers);
  for (uint32_t c = 0; c < containers; ++c) {
    const uint32_t base = static_cast<uint32_t>(Take<uint16_t>(&keys)) << 16;
    const uint32_t count = Take<uint16_t>(&keys) + 1u;
    if (runs && (run_flags[c / 8] >> (c % 8) & 1) != 0) {
      for (uint16_t left = Take<uint16_t>(&at); left > 0; --left) {
        const uint32_t first = base + Take<uint16_t>(&at);
        SetRange(first, uint64_t{first} + Take<uint16_t>(&at), &out);
      }
    } else if (count > kArrayLimit) {
      CopyBits(base, at, &out);
      at += kBitsetBytes;
    } else {
      for (uint32_t i = 0; i < count; ++i) SetBit(base + Take<uint16_t>(&at), &out);
    }
  }
  // The last byte may reach beyond `bits`.
  if (bits % 8 != 0) out.back() &= static_cast<uint8_t>((1u << (bits % 8)) - 1);
  return out;
}

}  // namespace waymark
