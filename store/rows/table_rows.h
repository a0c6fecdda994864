// Rows of CSV, TSV and RecBole's atomic files: a header, then records. Private to rows/; the way in is
// RowReader::Open.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/rows/byte_source.h"
#include "store/rows/csv_reader.h"
#include "store/rows/line_reader.h"
#include "store/rows/row_reader.h"

namespace waymark {

class TableRows : public RowReader {
 public:
  static absl::StatusOr<std::unique_ptr<RowReader>> Open(std::unique_ptr<ByteSource> source,
                                                         std::unique_ptr<LineReader> lines,
                                                         const RowOptions& options);
  absl::StatusOr<bool> Next(Row* row) override;
  int64_t bytes_read() const override { return source_->bytes_read(); }
  std::optional<int64_t> total_bytes() const override { return source_->total_bytes(); }

 private:
  // A field and the column that it comes from.
  struct Target {
    size_t column;
    std::string field;
    CellType type;
    std::optional<size_t> longitude = {};  // of a point of two columns; `column` is the latitude's
    bool inferred = false;
  };

  TableRows(std::unique_ptr<ByteSource> source, std::unique_ptr<LineReader> lines, const RowOptions& options);
  absl::Status ReadHeader();
  absl::Status BindColumns();
  absl::Status InferTypes();
  absl::StatusOr<bool> NextRecord(CsvRecord* record);
  absl::Status FillPoint(const Target& target, const CsvRecord& record,
                         google::protobuf::Struct* fields) const;
  absl::Status Fill(const CsvRecord& record, google::protobuf::Struct* fields) const;

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<LineReader> lines_;
  RowOptions options_;
  CsvReader records_;
  std::vector<std::string> header_;
  std::vector<CellType> header_types_;  // of RecBole's header; empty otherwise
  std::vector<Target> targets_;
  std::deque<CsvRecord> ahead_;  // read while the types were found
  int64_t line_ = 0;
};

}  // namespace waymark
