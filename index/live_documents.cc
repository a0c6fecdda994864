#include "index/live_documents.h"

#include "index/posting_block.h"

namespace waymark {
namespace {
constexpr uint32_t kUnknown = 0xFFFFFFFFu;
}

LiveDocuments::LiveDocuments(std::shared_ptr<const CompiledSegment> segment,
                             const std::function<bool(DocNumber)>& deleted)
    : segment_(std::move(segment)),
      bits_((segment_->doc_count() + 63) / 64),
      total_lengths_(segment_->fields().size()) {
  for (DocNumber doc = 0; doc < segment_->doc_count(); ++doc) {
    if (segment_->ordinal(doc) == kNoItem) continue;
    if (deleted(doc)) {
      all_ = false;
      continue;
    }
    bits_[doc / 64] |= uint64_t{1} << (doc % 64);
    ++count_;
    for (size_t field = 0; field < total_lengths_.size(); ++field) {
      total_lengths_[field] += segment_->length(field, doc);
    }
  }
  if (all_) return;
  document_counts_ = std::make_unique<std::atomic<uint32_t>[]>(segment_->term_count());
  for (size_t term = 0; term < segment_->term_count(); ++term) {
    document_counts_[term].store(kUnknown, std::memory_order_relaxed);
  }
}

uint32_t LiveDocuments::document_count(TermIndex term) const {
  if (all_) return segment_->document_count(term);
  uint32_t count = document_counts_[term].load(std::memory_order_relaxed);
  if (count == kUnknown) {
    count = CountDocuments(term);
    document_counts_[term].store(count, std::memory_order_relaxed);
  }
  return count;
}

uint32_t LiveDocuments::CountDocuments(TermIndex term) const {
  uint32_t count = 0;
  PostingBlockReader reader(*segment_, term);
  for (size_t block = 0; block < reader.block_count(); ++block) {
    for (DocNumber doc : reader.ReadDocuments(block)) count += Contains(doc);
  }
  return count;
}

}  // namespace waymark
