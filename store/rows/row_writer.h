// Lines into a file or standard output, packed by the name (.gz, .zst).
//
// The file appears under its name only when it is complete: until then it is NAME.part, which an error or a
// stop leaves no trace of. What is no regular file (a device, a pipe, a link) is written to as it is.
//
//   auto writer = RowWriter::Open("items.jsonl.zst");   // "-": standard output
//   (*writer)->WriteLine(ItemRow(item.id, item.fields));
//   absl::Status status = (*writer)->Close();
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waymark {

// One thread.
class RowWriter {
 public:
  static absl::StatusOr<std::unique_ptr<RowWriter>> Open(const std::string& path);
  // Removes what was written when Close has not been called.
  ~RowWriter();
  RowWriter(const RowWriter&) = delete;

  absl::Status WriteLine(absl::string_view line);
  // Flushes, syncs and gives the file its name.
  absl::Status Close();
  int64_t lines() const { return lines_; }

 private:
  class Packer;
  class GzipPacker;
  class ZstdPacker;
  RowWriter(std::string path, int descriptor, std::unique_ptr<Packer> packer);
  absl::Status Drain(bool end);
  absl::Status WriteOut(absl::string_view bytes);

  std::string path_;
  int descriptor_;
  std::unique_ptr<Packer> packer_;  // null: plain text
  std::string buffer_;
  int64_t lines_ = 0;
  bool closed_ = false;
  bool in_place_ = false;  // no regular file: written to as it is
};

}  // namespace waymark
