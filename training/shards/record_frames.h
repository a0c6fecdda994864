// The framing of TFRecord files: length (64 bits, little-endian), masked CRC-32C of the length, payload,
// masked CRC-32C of the payload (tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details).
//
//   std::string file;
//   AppendRecord("payload", &file);
//   RecordFrames frames(file);
//   while (frames.Next(&payload)) ...
//   frames.status();
#pragma once
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace waymark {

void AppendRecord(std::string_view payload, std::string* file);

// Borrows the bytes. DATA_LOSS names the record and its place.
class RecordFrames {
 public:
  explicit RecordFrames(std::string_view file) : file_(file) {}
  // False: the end, or damage (status() tells).
  bool Next(std::string_view* payload);
  const absl::Status& status() const { return status_; }
  size_t records() const { return records_; }

 private:
  bool Damaged(std::string_view what);

  std::string_view file_;
  size_t at_ = 0, records_ = 0;
  absl::Status status_;
};

}  // namespace waymark
