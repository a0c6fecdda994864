// Lines of a text, with a bound on their length, so that a broken file cannot fill the memory.
//
//   LineReader lines(source.get(), 4 << 20);
//   Line line;
//   while (*lines.Next(&line)) Use(line.number, line.text);
#pragma once
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "store/rows/byte_source.h"

namespace waymark {

struct Line {
  int64_t number = 0;  // from 1
  absl::string_view
      text;  // without the newline, with a carriage return that stood before it; valid until Next
  bool too_long = false;  // `text` is empty then; the rest of the line has been passed over
};

// One thread. A byte order mark at the start is dropped.
class LineReader {
 public:
  // `source` must outlive it.
  LineReader(ByteSource* source, size_t max_line_bytes) : source_(source), max_line_bytes_(max_line_bytes) {}
  // False at the end. INVALID_ARGUMENT: the text is UTF-16.
  absl::StatusOr<bool> Next(Line* line);
  // The first line without taking it; empty at the end of the text or when it is too long.
  absl::StatusOr<absl::string_view> PeekFirst();

 private:
  absl::StatusOr<bool> Fill();  // false at the end of the source
  absl::Status Start();

  ByteSource* source_;
  size_t max_line_bytes_;
  std::string buffer_;
  size_t begin_ = 0;    // of the line that comes next
  size_t scanned_ = 0;  // no newline in [begin_, scanned_)
  bool started_ = false, at_end_ = false;
  int64_t number_ = 0;
};

}  // namespace waymark
