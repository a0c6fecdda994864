// The ranker's vectors of items: one learned for the id, plus the mean direction of what the catalogue says
// of it (title words and categories, hashed), so that an item that was never trained on has one too.
//
//   vector = id_row + sum(content rows) / sqrt(number of content hashes)
//
// The vectors of all items of the directory are laid out when a ranker is loaded; items that come later get
// theirs from content when they are asked for. A changed title counts from the next load on.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "candidates/item_directory.h"

namespace waymark {

// Hashes of one item beyond these are not read.
inline constexpr size_t kRankerContentHashes = 64;

struct RankerVectorTables {
  int64_t width = 0;
  std::vector<std::string> ids;     // [items], the vocabulary
  std::vector<float> id_rows;       // [items, width]
  std::vector<float> content_rows;  // [content buckets, width]
};

// Thread-safe.
class RankerItemVectors {
 public:
  // RESOURCE_EXHAUSTED when the vectors of all items would take more than `limit_bytes`, with what they need.
  static absl::StatusOr<std::unique_ptr<RankerItemVectors>> Make(RankerVectorTables tables,
                                                                 const ItemDirectory* items,
                                                                 size_t limit_bytes);
  // out: [items, width]. kNoItem and items without content or id row: zero.
  void Read(absl::Span<const ItemOrdinal> items, float* out) const;
  int64_t width() const { return tables_.width; }

 private:
  RankerItemVectors(RankerVectorTables tables, const ItemDirectory* items)
      : tables_(std::move(tables)), items_(items) {}
  void AddContent(absl::Span<const ItemOrdinal> items, float* const* rows) const;

  RankerVectorTables tables_;  // without ids and id_rows, which are in all_
  const ItemDirectory* items_;
  std::vector<float> all_;  // [directory's end at load, width]
};

}  // namespace waymark
