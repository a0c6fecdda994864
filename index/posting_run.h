// Postings of a stretch of documents in a file, sorted, on the way from a TermPostingsTable into a segment;
// and the terms of several such runs together. A run is a file of one process: it goes with its object, and
// has no format that others rely on.
//
//   for each field, its terms by their bytes:
//     varint(bytes of the term), varint(bytes of its postings), term, postings (index/term_postings_table.h)
//
//   auto run = PostingRun::Write(table, folder / "run-0", first_doc, end_doc);   // ..., then each Open()
//   MergedTerms terms(runs, /*field=*/0, buffer_bytes);
//   for (status = terms.Next(); status.ok() && !terms.done(); status = terms.Next()) {
//     while (terms.NextDocument()) ...;   // terms.term(), terms.doc(), terms.positions()
//   }
//
// Not thread-safe. Errors: INTERNAL, the file cannot be written; DATA_LOSS, it cannot be read, or its bytes
// are not those that were written.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "index/compiled_segment.h"
#include "index/term_postings_table.h"
#include "index/varint.h"

namespace waymark {

class PostingRun {
 public:
  // Of documents from `first` to before `end`. Replaces the file.
  static absl::StatusOr<std::unique_ptr<PostingRun>> Write(const TermPostingsTable& table,
                                                           std::filesystem::path path, DocNumber first,
                                                           DocNumber end);
  ~PostingRun();  // removes the file
  // Before its terms are read; apart from Write(), since there may be more runs than files may be open.
  absl::Status Open();
  PostingRun(const PostingRun&) = delete;
  PostingRun& operator=(const PostingRun&) = delete;

  DocNumber first_doc() const { return first_; }
  DocNumber end_doc() const { return end_; }
  uint64_t bytes() const { return bytes_; }
  bool HasField(uint32_t field) const { return field < sections_.size() && sections_[field].bytes > 0; }

 private:
  friend class RunTerms;
  struct Section {
    uint64_t offset = 0, bytes = 0;
    uint64_t hash = 0;  // over the hashes of its terms
  };
  PostingRun(std::filesystem::path path, DocNumber first, DocNumber end)
      : path_(std::move(path)), first_(first), end_(end) {}

  std::filesystem::path path_;
  int file_ = -1;
  DocNumber first_, end_;
  uint64_t bytes_ = 0;
  std::vector<Section> sections_;  // [field]
};

// The terms of one field of one run.
class RunTerms {
 public:
  RunTerms(const PostingRun* run, uint32_t field, size_t buffer_bytes);

  absl::Status Next();
  bool done() const { return done_; }
  std::string_view term() const { return term_; }
  uint64_t key() const { return key_; }  // TermKey() of it

  // Of the current term. Whether its bytes were sound is said by the Next() that follows.
  bool NextDocument() {
    if (p_ >= postings_end_) return false;
    doc_ += (ReadLongVarint(p_) >> 1) + 1;
    if (doc_ < run_->first_ || doc_ >= run_->end_) {
      damaged_ = true;
      return false;
    }
    uint64_t position = ReadLongVarint(p_);
    positions_.clear();
    positions_.push_back(static_cast<int32_t>(position));
    while (p_ < postings_end_ && (*p_ & 1) == 0) {
      position += ReadLongVarint(p_) >> 1;
      positions_.push_back(static_cast<int32_t>(position));
    }
    return true;
  }
  DocNumber doc() const { return static_cast<DocNumber>(doc_); }
  absl::Span<const int32_t> positions() const { return positions_; }

 private:
  static constexpr uint64_t kBeforeFirst = ~uint64_t{0};

  absl::Status Need(size_t bytes);
  absl::Status Damaged(const char* what) const;

  const PostingRun* run_;
  PostingRun::Section section_;
  uint64_t unread_;              // bytes of the section that are not in the buffer yet
  std::vector<uint8_t> buffer_;  // with room behind for a varint that runs too far
  size_t begin_ = 0, end_ = 0;   // what the buffer holds, from the current term on
  size_t record_ = 0;            // bytes of the current term
  uint64_t hash_ = 0;            // so far
  bool done_ = false, damaged_ = false;
  std::string_view term_;
  uint64_t key_ = 0;
  const uint8_t *p_ = nullptr, *postings_end_ = nullptr;
  uint64_t doc_ = kBeforeFirst;
  std::vector<int32_t> positions_;
};

// The terms of one field over runs, which are ordered by their documents.
class MergedTerms {
 public:
  // `buffer_bytes`: of all runs together.
  MergedTerms(absl::Span<const std::unique_ptr<PostingRun>> runs, uint32_t field, size_t buffer_bytes);

  // To the first term, then to the next one. Documents that were not asked for are passed over.
  absl::Status Next();
  bool done() const { return holders_.empty(); }
  std::string_view term() const { return holders_[0]->term(); }

  bool NextDocument() {
    for (; at_ < holders_.size(); ++at_) {
      if (holders_[at_]->NextDocument()) return true;
    }
    return false;
  }
  DocNumber doc() const { return holders_[at_]->doc(); }
  absl::Span<const int32_t> positions() const { return holders_[at_]->positions(); }

 private:
  std::vector<RunTerms> runs_;
  bool started_ = false;
  std::vector<RunTerms*> holders_;  // of the current term, in the order of the runs
  size_t at_ = 0;                   // among them
};

}  // namespace waymark
