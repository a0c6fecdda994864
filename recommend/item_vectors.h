// Vectors of a few items, read once and compared many times.
#pragma once
#include <vector>

#include "absl/types/span.h"
#include "recommend/vector_index.h"

namespace waymark {

class ItemVectors {
 public:
  ItemVectors(const VectorIndex& index, absl::Span<const ItemOrdinal> items);
  size_t size() const { return has_.size(); }
  bool Has(size_t i) const { return has_[i]; }
  absl::Span<const float> vector(size_t i) const {  // [width]
    return absl::MakeConstSpan(vectors_).subspan(i * width_, width_);
  }
  // Over the last `count` vectors; NaN when none of them is there.
  float LargestCosine(absl::Span<const float> to, size_t count) const;

 private:
  size_t width_;
  std::vector<float> vectors_;
  std::vector<bool> has_;
};

// Of unit vectors.
float Cosine(absl::Span<const float> a, absl::Span<const float> b);

}  // namespace waymark
