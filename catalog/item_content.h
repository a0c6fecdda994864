// Items as hashes: the words of the title and the values of category fields. What vectors of items that
// nobody has touched yet are made of, and title overlap.
//
// Not thread-safe: the catalog's lock guards it. For catalog/ alone.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "catalog/column_bytes.h"
#include "catalog/schema.h"
#include "store/ids.h"

namespace waymark {

// XXH3 of "field\0value": one value of one field, whatever collection or machine.
uint64_t ContentHash(std::string_view field, std::string_view value);
// The words of a title: runs of letters and digits, case folded; sorted hashes, each once.
std::vector<uint64_t> TitleWordHashes(std::string_view field, std::string_view title);

class ItemContent {
 public:
  // Takes the words and categories anew from all of the item's fields.
  void Set(ItemOrdinal item, const Schema& schema, const google::protobuf::Struct& fields);
  void Clear(ItemOrdinal item);
  absl::Span<const uint64_t> TitleWords(ItemOrdinal item) const { return Get(item).first(WordCount(item)); }
  absl::Span<const uint64_t> Categories(ItemOrdinal item) const { return Get(item).subspan(WordCount(item)); }

  void Write(ByteWriter* out) const;
  bool Read(ByteReader* in, size_t end);

 private:
  struct Hashes {
    uint32_t words = 0;  // how many of `all` are title words; they come first
    std::vector<uint64_t> all;
  };
  absl::Span<const uint64_t> Get(ItemOrdinal item) const {
    return item < items_.size() ? absl::MakeConstSpan(items_[item].all) : absl::Span<const uint64_t>();
  }
  size_t WordCount(ItemOrdinal item) const { return item < items_.size() ? items_[item].words : 0; }

  std::vector<Hashes> items_;  // [ordinal]
};

}  // namespace waymark
