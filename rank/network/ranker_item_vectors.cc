#include "rank/network/ranker_item_vectors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace waymark {

absl::StatusOr<std::unique_ptr<RankerItemVectors>> RankerItemVectors::Make(RankerVectorTables tables,
                                                                           const ItemDirectory* items,
                                                                           size_t limit_bytes) {
  const size_t width = static_cast<size_t>(tables.width), end = items->End();
  const size_t bytes = end * width * sizeof(float);
  if (bytes > limit_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("the ranker's vectors of ", end, " items take ", bytes,
                                                     " bytes; the limit is ", limit_bytes));
  }
  std::unique_ptr<RankerItemVectors> made(new RankerItemVectors(std::move(tables), items));
  RankerVectorTables& own = made->tables_;
  made->all_.assign(end * width, 0.f);
  for (size_t row = 0; row < own.ids.size(); ++row) {
    const auto ordinal = items->Find(own.ids[row]);
    if (!ordinal || *ordinal >= end) continue;  // trained in another folder, on an item that is not here
    std::copy_n(&own.id_rows[row * width], width, &made->all_[*ordinal * width]);
  }
  own.ids = {};
  own.id_rows = {};
  constexpr size_t kChunk = 4096;
  std::vector<ItemOrdinal> chunk;
  std::vector<float*> rows;
  for (size_t first = 0; first < end && !own.content_rows.empty(); first += kChunk) {
    chunk.clear();
    rows.clear();
    for (size_t i = first; i < std::min(end, first + kChunk); ++i) {
      chunk.push_back(static_cast<ItemOrdinal>(i));
      rows.push_back(&made->all_[i * width]);
    }
    made->AddContent(chunk, rows.data());
  }
  return made;
}

void RankerItemVectors::AddContent(absl::Span<const ItemOrdinal> items, float* const* rows) const {
  const size_t width = static_cast<size_t>(tables_.width);
  const size_t buckets = tables_.content_rows.size() / width;
  if (buckets == 0) return;
  std::vector<std::vector<uint64_t>> hashes;
  items_->Content(items, &hashes);
  for (size_t i = 0; i < items.size() && i < hashes.size(); ++i) {
    const size_t count = std::min(hashes[i].size(), kRankerContentHashes);
    if (count == 0) continue;
    const float scale = 1 / std::sqrt(static_cast<float>(count));
    for (size_t k = 0; k < count; ++k) {
      const float* row = &tables_.content_rows[(hashes[i][k] % buckets) * width];
      for (size_t d = 0; d < width; ++d) rows[i][d] += scale * row[d];
    }
  }
}

void RankerItemVectors::Read(absl::Span<const ItemOrdinal> items, float* out) const {
  const size_t width = static_cast<size_t>(tables_.width), known = all_.size() / std::max<size_t>(width, 1);
  std::vector<ItemOrdinal> later;
  std::vector<float*> later_rows;
  for (size_t i = 0; i < items.size(); ++i) {
    float* row = out + i * width;
    if (items[i] < known) {
      std::memcpy(row, &all_[items[i] * width], width * sizeof(float));
      continue;
    }
    std::memset(row, 0, width * sizeof(float));
    if (items[i] == kNoItem) continue;
    later.push_back(items[i]);
    later_rows.push_back(row);
  }
  if (!later.empty()) AddContent(later, later_rows.data());
}

}  // namespace waymark
