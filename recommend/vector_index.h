// Item vectors of one retriever (inner product of unit vectors = cosine): sealed FAISS segments, a small flat
// tail for new ones, a bitmap of deleted ordinals. Searching takes no lock; a background call seals and
// merges.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "candidates/candidate.h"
#include "candidates/deadline.h"
#include "catalog/item_set.h"

namespace waymark {

struct VectorIndexOptions {
  int width = 64;
  size_t tail_limit = 4096;  // vectors in the tail before Maintain() seals it
  size_t flat_segment_limit =
      20000;  // segments of at most this many vectors are flat (exact), larger ones HNSW
  int hnsw_m = 16, ef_construction = 200, ef_search = 128;
  double exact_filter_share = 0.02;  // filters that keep less than this are scanned exactly
  size_t memory_limit_bytes = size_t{4} << 30;
};

// Thread-safe: any number of readers beside one writer.
class VectorIndex {
 public:
  static absl::StatusOr<std::unique_ptr<VectorIndex>> Create(const VectorIndexOptions& options);
  // Segments with checksums, under `folder`; `retriever_sha256` must be the one they were written with.
  static absl::StatusOr<std::unique_ptr<VectorIndex>> Open(const std::filesystem::path& folder,
                                                           const std::string& retriever_sha256,
                                                           const VectorIndexOptions& options);
  // Whether what lies at `folder` can be opened, whatever it was written with. NOT_FOUND: nothing does.
  static absl::Status Verify(const std::filesystem::path& folder);
  absl::Status Save(const std::filesystem::path& folder, const std::string& retriever_sha256,
                    LogOffset position) const;
  // What Open() found; 0 for one that was made anew.
  LogOffset saved_position() const;
  ~VectorIndex();

  // vectors: [items, width]. Replaces vectors that were there. RESOURCE_EXHAUSTED over the memory limit, with
  // the bytes needed.
  absl::Status Add(absl::Span<const ItemOrdinal> items, absl::Span<const float> vectors);
  void Remove(absl::Span<const ItemOrdinal> items);
  // Best first, ties by ordinal. `allowed` null: all. `excluded` sorted. After the deadline it answers what
  // it has found; the caller's look at the deadline tells.
  absl::StatusOr<std::vector<ScoredItem>> Search(absl::Span<const float> query, size_t limit,
                                                 const ItemSet* allowed,
                                                 absl::Span<const ItemOrdinal> excluded,
                                                 Deadline deadline) const;
  // out: [items, width]; rows of items without a vector are zero. Answers how many have one.
  size_t ReadVectors(absl::Span<const ItemOrdinal> items, absl::Span<float> out) const;
  size_t size() const;
  size_t memory_bytes() const;  // about
  int width() const;
  // Seals a full tail and merges small segments and those with many deletions. Called in the background.
  // CANCELLED as soon as `cancelled` says so (looked at every few thousand vectors); the index stays as it
  // was.
  absl::Status Maintain(const std::function<bool()>& cancelled = nullptr);
  // "built for this processor" or "system package".
  static std::string FaissBuild();

  class Impl;  // vector_index_impl.h, private to recommend/

 private:
  explicit VectorIndex(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace waymark
