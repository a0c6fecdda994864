#include "store/rows/row_reader.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "store/rows/byte_source.h"
#include "store/rows/column_types.h"
#include "store/rows/json_rows.h"
#include "store/rows/line_reader.h"
#include "store/rows/table_rows.h"
#include "store/rows/utf8.h"

namespace waymark {

namespace {

RowFormat FormatByName(absl::string_view path) {
  for (absl::string_view packed : {".gz", ".zst"}) {
    if (absl::EndsWithIgnoreCase(path, packed)) path.remove_suffix(packed.size());
  }
  for (absl::string_view name : {".jsonl", ".ndjson", ".json"}) {
    if (absl::EndsWithIgnoreCase(path, name)) return RowFormat::kJsonl;
  }
  for (absl::string_view name : {".inter", ".item", ".user"}) {
    if (absl::EndsWithIgnoreCase(path, name)) return RowFormat::kRecBole;
  }
  if (absl::EndsWithIgnoreCase(path, ".csv")) return RowFormat::kCsv;
  if (absl::EndsWithIgnoreCase(path, ".tsv")) return RowFormat::kTsv;
  return RowFormat::kAuto;
}

RowFormat FormatByFirstLine(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  if (absl::StartsWith(line, "{")) return RowFormat::kJsonl;
  return absl::StrContains(line, '\t') ? RowFormat::kTsv : RowFormat::kCsv;
}

}  // namespace

absl::StatusOr<RowFormat> ParseRowFormat(absl::string_view name) {
  if (name == "auto") return RowFormat::kAuto;
  if (name == "jsonl") return RowFormat::kJsonl;
  if (name == "csv") return RowFormat::kCsv;
  if (name == "tsv") return RowFormat::kTsv;
  if (name == "recbole") return RowFormat::kRecBole;
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(name), " is no format; there are auto, jsonl, csv, tsv and recbole"));
}

absl::StatusOr<std::unique_ptr<RowReader>> RowReader::Open(const std::string& path,
                                                           const RowOptions& options) {
  if (auto status = CheckMapping(options.mapping, options.kind); !status.ok()) return status;
  auto source = ByteSource::Open(path);
  if (!source.ok()) return source.status();
  auto lines = std::make_unique<LineReader>(source->get(), options.max_line_bytes);
  auto first = lines->PeekFirst();
  if (!first.ok()) return first.status();
  if (first->empty() && (*source)->bytes_read() == 0) {
    return absl::InvalidArgumentError("the file is empty: there is nothing to import");
  }
  RowOptions resolved = options;
  if (resolved.format == RowFormat::kAuto) resolved.format = FormatByName(path);
  if (resolved.format == RowFormat::kAuto) resolved.format = FormatByFirstLine(*first);
  if (resolved.format == RowFormat::kJsonl) {
    return std::make_unique<JsonRows>(*std::move(source), std::move(lines), resolved);
  }
  return TableRows::Open(*std::move(source), std::move(lines), resolved);
}

}  // namespace waymark
