#include "store/rows/line_reader.h"

#include <cstring>

namespace waymark {

namespace {
constexpr size_t kChunkBytes = 256 << 10;
}

absl::StatusOr<bool> LineReader::Fill() {
  if (at_end_) return false;
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  const size_t had = buffer_.size();
  buffer_.resize(had + kChunkBytes);
  auto got = source_->Read(buffer_.data() + had, kChunkBytes);
  buffer_.resize(had + (got.ok() ? *got : 0));
  if (!got.ok()) return got.status();
  at_end_ = *got == 0;
  return !at_end_;
}

absl::Status LineReader::Start() {
  if (started_) return absl::OkStatus();
  started_ = true;
  while (buffer_.size() < 3) {
    auto more = Fill();
    if (!more.ok()) return more.status();
    if (!*more) break;
  }
  const absl::string_view start = buffer_;
  if (start.substr(0, 3) == "\xEF\xBB\xBF") {
    begin_ = scanned_ = 3;
  } else if (start.substr(0, 2) == "\xFF\xFE" || start.substr(0, 2) == "\xFE\xFF") {
    return absl::InvalidArgumentError(
        "the file is UTF-16; it must be UTF-8 (iconv -f UTF-16 -t UTF-8 converts it)");
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> LineReader::Next(Line* line) {
  if (auto started = Start(); !started.ok()) return started;
  *line = {};
  while (true) {
    const void* found = std::memchr(buffer_.data() + scanned_, '\n', buffer_.size() - scanned_);
    const size_t end = found == nullptr ? buffer_.size() : static_cast<const char*>(found) - buffer_.data();
    if (end - begin_ > max_line_bytes_) {
      line->too_long = true;  // what was read of it is let go
      begin_ = end;
    }
    scanned_ = end;
    if (found != nullptr) {
      line->number = ++number_;
      if (!line->too_long) line->text = absl::string_view(buffer_).substr(begin_, end - begin_);
      begin_ = scanned_ = end + 1;
      return true;
    }
    auto more = Fill();
    if (!more.ok()) return more.status();
    if (*more) continue;
    if (begin_ == buffer_.size() && !line->too_long) return false;
    line->number = ++number_;  // the last line has no newline
    if (!line->too_long) line->text = absl::string_view(buffer_).substr(begin_);
    begin_ = scanned_ = buffer_.size();
    return true;
  }
}

absl::StatusOr<absl::string_view> LineReader::PeekFirst() {
  if (auto started = Start(); !started.ok()) return started;
  while (true) {
    const size_t end = buffer_.find('\n', begin_);
    if (end != std::string::npos) return absl::string_view(buffer_).substr(begin_, end - begin_);
    if (buffer_.size() - begin_ > max_line_bytes_) return absl::string_view();
    auto more = Fill();
    if (!more.ok()) return more.status();
    if (!*more) return absl::string_view(buffer_).substr(begin_);
  }
}

}  // namespace waymark
