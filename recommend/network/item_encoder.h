// Vectors of items: id embedding + projected mean of the embeddings of the hashes of its content. An item
// that training has not seen (or whose id is dropped, so that content is learned) has `items.unknown` in the
// place of its id embedding.
//
//   ContentBuckets content = FoldContent(hashes_of_each_item, shape.content_buckets);
//   EncodeItems(weights, tables, content, rows, ids_dropped, out);
//
// No state; thread-safe. Includes LibTorch: for recommend/network/ and training/ only.
#pragma once
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "recommend/network/retriever_weights.h"

namespace waymark {

// Buckets of item i: buckets[starts[i] .. starts[i + 1]).
struct ContentBuckets {
  std::vector<uint64_t> starts{0};
  std::vector<uint32_t> buckets;
  size_t items() const { return starts.size() - 1; }
  absl::Span<const uint32_t> Of(size_t i) const {
    return absl::MakeConstSpan(buckets).subspan(starts[i], starts[i + 1] - starts[i]);
  }
};
ContentBuckets FoldContent(const std::vector<std::vector<uint64_t>>& hashes, int content_buckets);

struct ItemTables {
  at::Tensor id;       // [items, width]
  at::Tensor buckets;  // [content_buckets, content_width]
};

inline constexpr int64_t kNoRow = -1;

// Of n items: rows[i] is the row of its id embedding or kNoRow; content.Of(content_of[i]) its buckets.
// vectors: [n, width], not of unit length. pooled: [n, content_width], kept for the backward pass.
void EncodeItems(const DenseWeights& weights, const ItemTables& tables, const ContentBuckets& content,
                 absl::Span<const int64_t> rows, absl::Span<const int64_t> content_of, at::Tensor* vectors,
                 at::Tensor* pooled);

}  // namespace waymark
