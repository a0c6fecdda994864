// Private to the vector index: its state, and the locks of its writers.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "recommend/vector_index.h"
#include "recommend/vector_snapshot.h"

namespace waymark {

class VectorIndex::Impl {
 public:
  struct TailPlace {
    const TailBlock* block;
    size_t row;
  };
  explicit Impl(const VectorIndexOptions& o) : options(o), current(std::make_shared<VectorSnapshot>()) {}

  // The lock is held while a pointer is copied: std::atomic<shared_ptr> does the same with a spin lock.
  std::shared_ptr<const VectorSnapshot> Current() const {
    std::lock_guard lock(current_mutex);
    return current;
  }
  void Publish(std::shared_ptr<const VectorSnapshot> next) {
    std::lock_guard lock(current_mutex);
    current.swap(next);
  }
  VectorSegmentOptions SegmentOptions() const {
    return {options.width, options.flat_segment_limit, options.hnsw_m, options.ef_construction};
  }
  absl::Status SealTail(const std::function<bool()>& cancelled);
  // Builds one segment of the live rows of `old_segments` and of the first `old_blocks` tail blocks of
  // `from`, and swaps it in for them. Writers go on meanwhile.
  absl::Status Replace(const VectorSnapshot& from,
                       const std::vector<std::shared_ptr<const VectorSegment>>& old_segments,
                       size_t old_blocks, const std::function<bool()>& cancelled);

  const VectorIndexOptions options;
  // Taken in this order.
  std::mutex maintain_mutex, write_mutex;
  absl::flat_hash_map<ItemOrdinal, TailPlace> tail_places;  // under write_mutex
  mutable std::mutex current_mutex;
  std::shared_ptr<const VectorSnapshot> current;  // under current_mutex
  LogOffset saved_position = 0;                   // set while opening
};

}  // namespace waymark
