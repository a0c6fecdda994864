// Which documents of a compiled segment still count, after deletions that came later than it was compiled,
// and the statistics over them.
//
// Thread-safe.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "index/compiled_segment.h"

namespace waymark {

class LiveDocuments {
 public:
  // `deleted(doc)` is asked for every document that has an item.
  LiveDocuments(std::shared_ptr<const CompiledSegment> segment,
                const std::function<bool(DocNumber)>& deleted);

  bool Contains(DocNumber doc) const { return bits_[doc / 64] >> (doc % 64) & 1; }
  // 64 documents to a word, least significant bit first.
  const std::vector<uint64_t>& bits() const { return bits_; }
  DocNumber count() const { return count_; }
  // Terms in a field over all live documents.
  uint64_t total_length(size_t field) const { return total_lengths_[field]; }
  // Live documents that hold the term. Counted when it is first asked for where documents were deleted since
  // the segment was compiled.
  uint32_t document_count(TermIndex term) const;

 private:
  uint32_t CountDocuments(TermIndex term) const;

  std::shared_ptr<const CompiledSegment> segment_;
  std::vector<uint64_t> bits_;
  DocNumber count_ = 0;
  std::vector<uint64_t> total_lengths_;  // [field]
  bool all_ = true;                      // nothing was deleted since the segment was compiled
  // [term]; kUnknown until it has been counted. Every thread that counts comes to the same number.
  std::unique_ptr<std::atomic<uint32_t>[]> document_counts_;
};

}  // namespace waymark
