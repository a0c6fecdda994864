// Rows of JSONL. Private to rows/; the way in is RowReader::Open.
#pragma once
#include <memory>
#include <set>
#include <string>

#include "store/rows/byte_source.h"
#include "store/rows/line_reader.h"
#include "store/rows/row_reader.h"

namespace waymark {

class JsonRows : public RowReader {
 public:
  JsonRows(std::unique_ptr<ByteSource> source, std::unique_ptr<LineReader> lines, const RowOptions& options)
      : source_(std::move(source)), lines_(std::move(lines)), options_(options) {}
  absl::StatusOr<bool> Next(Row* row) override;
  int64_t bytes_read() const override { return source_->bytes_read(); }
  std::optional<int64_t> total_bytes() const override { return source_->total_bytes(); }

 private:
  // Renames and converts; INVALID_ARGUMENT names the field.
  absl::Status Map(google::protobuf::Struct* fields) const;

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<LineReader> lines_;
  RowOptions options_;
  int64_t line_ = 0;
};

}  // namespace waymark
