// Private to the vector index: what a search sees. A snapshot never changes; the writer makes the next one
// and shares all parts that are the same.
#pragma once
#include <memory>
#include <vector>

#include "recommend/vector_index.h"
#include "recommend/vector_segment.h"

namespace waymark {

// Rows of new vectors in the order in which they came. Rows below a snapshot's count are never written
// again, so readers and the writer that appends do not meet.
class TailBlock {
 public:
  static constexpr size_t kRows = 256;
  explicit TailBlock(int width) : width_(static_cast<size_t>(width)), vectors_(kRows * width_) {}
  ItemOrdinal item(size_t row) const { return items_[row]; }
  const float* vector(size_t row) const { return &vectors_[row * width_]; }
  void Write(size_t row, ItemOrdinal item, const float* vector);

 private:
  size_t width_;
  ItemOrdinal items_[kRows];
  std::vector<float> vectors_;
};

// Not SegmentView: the keyword index has one of that name in this namespace.
struct VectorSegmentView {
  std::shared_ptr<const VectorSegment> segment;
  std::shared_ptr<const RowBits> dead;  // null: none
  size_t dead_rows = 0;
};
struct BlockView {
  std::shared_ptr<TailBlock> block;
  size_t rows = 0;
  std::shared_ptr<const RowBits> dead;
};

struct VectorSnapshot {
  std::vector<VectorSegmentView> segments;
  std::vector<BlockView> tail;  // oldest first; only the last may have free rows
  size_t live = 0;

  size_t TailRows() const;
  size_t bytes(int width) const;
  // At most one live row has an item: an item's new row lies in the tail, and its old one is dead.
  absl::StatusOr<std::vector<ScoredItem>> Search(const VectorIndexOptions& options, const float* query,
                                                 size_t limit, const ItemSet* allowed,
                                                 absl::Span<const ItemOrdinal> excluded,
                                                 Deadline deadline) const;
  size_t ReadVectors(int width, absl::Span<const ItemOrdinal> items, absl::Span<float> out) const;
};

}  // namespace waymark
