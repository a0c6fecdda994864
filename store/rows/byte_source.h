// The bytes of a file or of standard input, unpacked on the way when they are gzip or zstd.
//
// Packing is found by the first bytes, not by the name, so that a renamed file and a pipe work alike. Several
// gzip members or zstd frames one after the other (as `cat a.gz b.gz` makes) are read as one text.
//
//   auto source = ByteSource::Open("items.jsonl.zst");   // "-": standard input
//   absl::StatusOr<size_t> got = (*source)->Read(buffer, sizeof(buffer));
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace waymark {

// One thread.
class ByteSource {
 public:
  // NOT_FOUND, PERMISSION_DENIED; INVALID_ARGUMENT: a folder.
  static absl::StatusOr<std::unique_ptr<ByteSource>> Open(const std::string& path);
  virtual ~ByteSource() = default;

  // Up to `size` bytes of text into `out`; 0 at the end. DATA_LOSS: packed data that is damaged or cut off;
  // CANCELLED: a signal came while it waited.
  virtual absl::StatusOr<size_t> Read(char* out, size_t size) = 0;

  // Of the file as it lies there (packed), for progress.
  virtual int64_t bytes_read() const = 0;
  // None for a pipe.
  virtual std::optional<int64_t> total_bytes() const = 0;
};

}  // namespace waymark
