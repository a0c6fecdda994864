// Rows of JSONL, CSV, TSV and RecBole's atomic files, one at a time, with their fields named and typed.
//
//   auto reader = RowReader::Open("movies.csv", {.kind = RowKind::kItem, .mapping = mapping});
//   Row row;
//   while (*(*reader)->Next(&row)) {
//     if (!row.refusal.empty()) Complain(row.line, row.refusal); else Use(row.fields);
//   }
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/struct.pb.h"
#include "store/rows/field_mapping.h"

namespace waymark {

enum class RowFormat { kAuto, kJsonl, kCsv, kTsv, kRecBole };
// INVALID_ARGUMENT lists «auto, jsonl, csv, tsv, recbole».
absl::StatusOr<RowFormat> ParseRowFormat(absl::string_view name);

struct RowOptions {
  RowKind kind = RowKind::kItem;
  RowFormat format = RowFormat::kAuto;  // by the name, else by the first line
  FieldMapping mapping;
  char separator = 0;  // of CSV; 0: the format's own
  size_t max_line_bytes = 4 << 20;
  bool has_ids = true;     // false: rows that are neither items nor users need none
  int64_t skip_lines = 0;  // rows that begin in the first so many lines are passed over (done before)
};

struct Row {
  int64_t line = 0;  // where it begins, from 1
  google::protobuf::Struct fields;
  std::string refusal;  // not empty: what is wrong; `fields` has no meaning then
};

// One thread. Memory is bounded by a few times `max_line_bytes`.
class RowReader {
 public:
  // INVALID_ARGUMENT: an empty file, a mapped column that is not there (with those that are), a column of an
  // event file that is no field of an event.
  static absl::StatusOr<std::unique_ptr<RowReader>> Open(const std::string& path, const RowOptions& options);
  virtual ~RowReader() = default;
  // False at the end. An error is one of the file as a whole (it cannot be read on); it names the line.
  virtual absl::StatusOr<bool> Next(Row* row) = 0;
  virtual int64_t bytes_read() const = 0;
  virtual std::optional<int64_t> total_bytes() const = 0;
};

}  // namespace waymark
