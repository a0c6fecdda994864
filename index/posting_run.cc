#include "index/posting_run.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "index/append_file.h"
#include "index/index_manifest.h"

namespace waymark {
namespace {

// Readable bytes behind what the buffer holds: as many as reading a place of damaged postings may run over.
constexpr size_t kRunSlack = 2 * kLongestVarint;
constexpr size_t kSmallestBuffer = 4096;

// Over the terms of a section, one by one.
uint64_t HashWith(uint64_t hash, std::string_view term, absl::Span<const uint8_t> postings) {
  return XXH3_64bits_withSeed(postings.data(), postings.size(),
                              XXH3_64bits_withSeed(term.data(), term.size(), hash));
}

}  // namespace

absl::StatusOr<std::unique_ptr<PostingRun>> PostingRun::Write(const TermPostingsTable& table,
                                                              std::filesystem::path path, DocNumber first,
                                                              DocNumber end) {
  std::unique_ptr<PostingRun> run(new PostingRun(std::move(path), first, end));
  AppendFile file(run->path_);
  std::vector<uint8_t> postings;
  for (uint32_t field = 0; field < table.field_count() && file.status().ok(); ++field) {
    Section section{file.size()};
    for (uint32_t t : table.SortedTerms(field)) {
      table.ReadPostings(field, t, &postings);
      const std::string_view term = table.term(field, t);
      file.AppendVarint(term.size());
      file.AppendVarint(postings.size());
      file.Append(term);
      file.Append(postings);
      section.hash = HashWith(section.hash, term, postings);
    }
    section.bytes = file.size() - section.offset;
    run->sections_.push_back(section);
  }
  run->bytes_ = file.size();
  if (absl::Status status = file.Close(); !status.ok()) return status;
  return run;
}

absl::Status PostingRun::Open() {
  file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  return file_ < 0 ? FileError(absl::StatusCode::kDataLoss, path_, "cannot be opened") : absl::OkStatus();
}

PostingRun::~PostingRun() {
  if (file_ >= 0) close(file_);
  std::error_code error;
  std::filesystem::remove(path_, error);  // else its folder goes later
}

RunTerms::RunTerms(const PostingRun* run, uint32_t field, size_t buffer_bytes)
    : run_(run),
      section_(run->sections_[field]),
      unread_(section_.bytes),
      buffer_(std::max(kSmallestBuffer, std::min<size_t>(buffer_bytes, section_.bytes)) + kRunSlack) {}

absl::Status RunTerms::Damaged(const char* what) const {
  return absl::DataLossError(absl::StrCat(run_->path_.string(), ": ", what));
}

absl::Status RunTerms::Next() {
  if (damaged_ || p_ > postings_end_) return Damaged("postings out of range");
  begin_ += record_;
  record_ = 0;
  p_ = postings_end_ = nullptr;
  if (begin_ == end_ && unread_ == 0) {
    done_ = true;
    return hash_ == section_.hash ? absl::OkStatus() : Damaged("its hash differs");
  }
  const uint64_t left = end_ - begin_ + unread_;
  if (absl::Status status = Need(std::min<uint64_t>(left, 2 * kLongestVarint)); !status.ok()) return status;
  const uint8_t* p = buffer_.data() + begin_;
  const uint64_t term_bytes = ReadLongVarint(p), posting_bytes = ReadLongVarint(p);
  const auto header = static_cast<size_t>(p - (buffer_.data() + begin_));
  if (header > left || term_bytes > left - header || posting_bytes > left - header - term_bytes) {
    return Damaged("a term is longer than its section");
  }
  record_ = header + term_bytes + posting_bytes;
  if (absl::Status status = Need(record_); !status.ok()) return status;
  const uint8_t* const term = buffer_.data() + begin_ + header;
  term_ = {reinterpret_cast<const char*>(term), term_bytes};
  key_ = TermKey(term_);
  p_ = term + term_bytes;
  postings_end_ = p_ + posting_bytes;
  hash_ = HashWith(hash_, term_, absl::MakeConstSpan(p_, posting_bytes));
  doc_ = kBeforeFirst;
  return absl::OkStatus();
}

absl::Status RunTerms::Need(size_t bytes) {
  if (end_ - begin_ >= bytes) return absl::OkStatus();
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (buffer_.size() < bytes + kRunSlack) buffer_.resize(bytes + kRunSlack);
  while (end_ < bytes) {
    const size_t room = std::min<uint64_t>(unread_, buffer_.size() - kRunSlack - end_);
    const auto at = static_cast<off_t>(section_.offset + section_.bytes - unread_);
    const ssize_t got = pread(run_->file_, buffer_.data() + end_, room, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(absl::StatusCode::kDataLoss, run_->path_, "cannot be read");
    if (got == 0) return Damaged("cut short");
    end_ += static_cast<size_t>(got);
    unread_ -= static_cast<uint64_t>(got);
  }
  return absl::OkStatus();
}

MergedTerms::MergedTerms(absl::Span<const std::unique_ptr<PostingRun>> runs, uint32_t field,
                         size_t buffer_bytes) {
  for (const auto& run : runs) {
    if (run->HasField(field)) runs_.emplace_back(run.get(), field, buffer_bytes / runs.size());
  }
}

absl::Status MergedTerms::Next() {
  if (!started_) {
    for (RunTerms& run : runs_) holders_.push_back(&run);
    started_ = true;
  }
  for (RunTerms* run : holders_) {
    if (absl::Status status = run->Next(); !status.ok()) return status;
  }
  holders_.clear();
  at_ = 0;
  // Runs are few, and most terms differ in their first eight bytes.
  for (RunTerms& run : runs_) {
    if (run.done()) continue;
    if (!holders_.empty()) {
      const RunTerms& least = *holders_[0];
      if (run.key() > least.key() || (run.key() == least.key() && run.term() > least.term())) continue;
      if (run.key() < least.key() || run.term() < least.term()) holders_.clear();
    }
    holders_.push_back(&run);
  }
  return absl::OkStatus();
}

}  // namespace waymark
