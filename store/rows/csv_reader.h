// Records of CSV and TSV (RFC 4180): fields in double quotes may hold the separator, newlines and doubled
// quotes; lines end with LF or CRLF; blank lines are passed over.
//
// A stray quote would swallow the rest of the file. Here it costs one line: a record that is wrong is refused
// at the line where it began, and reading goes on with the line after that.
//
//   CsvReader reader(&lines, {.separator = ','});
//   CsvRecord record;
//   while (*reader.Next(&record)) Use(record.cells);
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "store/rows/line_reader.h"

namespace waymark {

struct CsvRecord {
  int64_t line = 0;  // where it begins, from 1
  std::vector<std::string> cells;
  std::string refusal;  // not empty: why there are no cells
};

struct CsvOptions {
  char separator = ',';
  bool quotes = true;  // false: a quote is a character like any other
  size_t max_record_bytes = 4 << 20;
};

// One thread.
class CsvReader {
 public:
  // `lines` must outlive it.
  CsvReader(LineReader* lines, const CsvOptions& options) : lines_(lines), options_(options) {}
  // False at the end.
  absl::StatusOr<bool> Next(CsvRecord* record);

 private:
  struct PhysicalLine {
    int64_t number;
    std::string text;
    bool too_long;
  };
  absl::StatusOr<bool> NextLine(PhysicalLine* line);

  LineReader* lines_;
  CsvOptions options_;
  std::deque<PhysicalLine> again_;  // lines to read once more, after a refused record
};

}  // namespace waymark
