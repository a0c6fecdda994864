#include "recommend/item_vectors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace waymark {

float Cosine(absl::Span<const float> a, absl::Span<const float> b) {
  float sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

ItemVectors::ItemVectors(const VectorIndex& index, absl::Span<const ItemOrdinal> items)
    : width_(static_cast<size_t>(index.width())), vectors_(items.size() * width_), has_(items.size()) {
  index.ReadVectors(items, absl::MakeSpan(vectors_));
  for (size_t i = 0; i < items.size(); ++i) {
    const absl::Span<const float> v = vector(i);
    has_[i] = std::any_of(v.begin(), v.end(), [](float x) { return x != 0; });
  }
}

float ItemVectors::LargestCosine(absl::Span<const float> to, size_t count) const {
  float largest = std::numeric_limits<float>::quiet_NaN();
  for (size_t i = size() - std::min(size(), count); i < size(); ++i) {
    if (!has_[i]) continue;
    const float cosine = Cosine(vector(i), to);
    if (std::isnan(largest) || cosine > largest) largest = cosine;
  }
  return largest;
}

}  // namespace waymark
