#include "recommend/network/item_encoder.h"

#include <algorithm>

#include "recommend/network/counter_random.h"

namespace waymark {

ContentBuckets FoldContent(const std::vector<std::vector<uint64_t>>& hashes, int content_buckets) {
  ContentBuckets content;
  for (const std::vector<uint64_t>& item : hashes) {
    const size_t first = content.buckets.size();
    for (uint64_t hash : item) {
      content.buckets.push_back(static_cast<uint32_t>(MixBits(hash) % content_buckets));
    }
    // The order of hashes must not matter, not even in the last bit of a sum.
    std::sort(content.buckets.begin() + first, content.buckets.end());
    content.starts.push_back(content.buckets.size());
  }
  return content;
}

void EncodeItems(const DenseWeights& weights, const ItemTables& tables, const ContentBuckets& content,
                 absl::Span<const int64_t> rows, absl::Span<const int64_t> content_of, at::Tensor* vectors,
                 at::Tensor* pooled) {
  const int64_t n = rows.size(), width = tables.id.size(1), content_width = tables.buckets.size(1);
  *pooled = at::zeros({n, content_width}, at::kFloat);
  *vectors = at::empty({n, width}, at::kFloat);
  const float* unknown = weights.unknown.data_ptr<float>();
  const float* ids = tables.id.data_ptr<float>();
  const float* buckets = tables.buckets.data_ptr<float>();
  for (int64_t i = 0; i < n; ++i) {
    const float* id = rows[i] == kNoRow ? unknown : ids + rows[i] * width;
    std::copy_n(id, width, vectors->data_ptr<float>() + i * width);
    const absl::Span<const uint32_t> own = content.Of(content_of[i]);
    float* sum = pooled->data_ptr<float>() + i * content_width;
    for (uint32_t bucket : own) {
      for (int64_t c = 0; c < content_width; ++c) sum[c] += buckets[bucket * content_width + c];
    }
    const float scale = own.empty() ? 0.0f : 1.0f / static_cast<float>(own.size());
    for (int64_t c = 0; c < content_width; ++c) sum[c] *= scale;
  }
  if (!content.buckets.empty()) vectors->addmm_(*pooled, weights.projection);
}

}  // namespace waymark
