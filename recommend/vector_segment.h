// One sealed part of a vector index: vectors in the order of their ordinals, in a FAISS flat index, and above
// a size the links of an HNSW graph over them. Immutable; what is deleted later is told by bits beside it.
//
// FAISS stays behind this header. Thread-safe.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "candidates/deadline.h"
#include "catalog/item_set.h"
#include "recommend/top_items.h"
#include "store/ids.h"

namespace waymark {

// One bit a row; set: the row is dead.
class RowBits {
 public:
  explicit RowBits(size_t rows) : words_((rows + 63) / 64, 0) {}
  bool Get(size_t row) const { return (words_[row / 64] >> (row % 64)) & 1; }
  void Set(size_t row) { words_[row / 64] |= uint64_t{1} << (row % 64); }
  const std::vector<uint64_t>& words() const { return words_; }
  std::vector<uint64_t>* mutable_words() { return &words_; }

 private:
  std::vector<uint64_t> words_;
};

// Which rows may be answered. `dead` and `allowed` null: no such rule; `excluded` sorted.
struct RowFilter {
  const RowBits* dead = nullptr;
  const ItemSet* allowed = nullptr;
  absl::Span<const ItemOrdinal> excluded;
  bool Keeps(size_t row, ItemOrdinal item) const;
};

struct VectorSegmentOptions {
  int width = 64;
  size_t flat_limit = 20000;
  int hnsw_m = 16, ef_construction = 200;
};

class VectorSegment {
 public:
  // ordinals: [rows], ascending; vectors: [rows, width]. Builds the graph on this thread alone, so the same
  // input gives the same graph. CANCELLED when `cancelled` says so, looked at every few thousand rows.
  static absl::StatusOr<std::shared_ptr<const VectorSegment>> Build(
      const VectorSegmentOptions& options, std::vector<ItemOrdinal> ordinals, absl::Span<const float> vectors,
      const std::function<bool()>& cancelled = nullptr);
  ~VectorSegment();

  size_t rows() const { return ordinals_.size(); }
  absl::Span<const ItemOrdinal> ordinals() const { return ordinals_; }
  const float* vector(size_t row) const;  // [width]
  std::optional<size_t> RowOf(ItemOrdinal item) const;
  bool has_graph() const;
  size_t bytes() const;

  // All rows that the filter keeps, exactly. False: the deadline came first.
  bool Scan(const float* query, const RowFilter& filter, Deadline deadline, TopItems* top) const;
  // The rows of `items` (ascending) that the filter keeps, exactly.
  bool ScanItems(const float* query, absl::Span<const ItemOrdinal> items, const RowFilter& filter,
                 Deadline deadline, TopItems* top) const;
  // About the nearest `limit` rows by the graph, looking at the best `ef` on the way. INTERNAL: FAISS threw.
  absl::Status SearchGraph(const float* query, size_t limit, size_t ef, const RowFilter& filter,
                           TopItems* top) const;

  // Named by its content, so that one that is there already is not written again. Answers the file's name.
  absl::StatusOr<std::string> Write(const std::filesystem::path& folder) const;
  static absl::StatusOr<std::shared_ptr<const VectorSegment>> Read(const std::filesystem::path& folder,
                                                                   const std::string& name,
                                                                   const VectorSegmentOptions& options);

 private:
  struct Faiss;
  VectorSegment(int width, std::vector<ItemOrdinal> ordinals);
  const int width_;
  std::vector<ItemOrdinal> ordinals_;
  std::unique_ptr<Faiss> faiss_;
};

}  // namespace waymark
