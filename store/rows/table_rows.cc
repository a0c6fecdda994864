#include "store/rows/table_rows.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "store/rows/column_types.h"
#include "store/rows/utf8.h"

namespace waymark {

namespace {

// How many rows decide the types of columns that nothing is said about.
constexpr size_t kRowsForTypes = 1000;
constexpr size_t kBytesForTypes = 8 << 20;

CsvOptions MakeCsvOptions(const RowOptions& options) {
  CsvOptions csv;
  csv.separator = options.format == RowFormat::kCsv ? ',' : '\t';
  if (options.separator != 0) csv.separator = options.separator;
  csv.quotes = options.format != RowFormat::kRecBole;
  csv.max_record_bytes = options.max_line_bytes;
  return csv;
}

}  // namespace

TableRows::TableRows(std::unique_ptr<ByteSource> source, std::unique_ptr<LineReader> lines,
                     const RowOptions& options)
    : source_(std::move(source)),
      lines_(std::move(lines)),
      options_(options),
      records_(lines_.get(), MakeCsvOptions(options)) {}

absl::StatusOr<std::unique_ptr<RowReader>> TableRows::Open(std::unique_ptr<ByteSource> source,
                                                           std::unique_ptr<LineReader> lines,
                                                           const RowOptions& options) {
  auto rows = std::unique_ptr<TableRows>(new TableRows(std::move(source), std::move(lines), options));
  if (auto status = rows->ReadHeader(); !status.ok()) return status;
  if (auto status = rows->BindColumns(); !status.ok()) return status;
  if (auto status = rows->InferTypes(); !status.ok()) return status;
  return rows;
}

absl::Status TableRows::ReadHeader() {
  CsvRecord header;
  auto more = records_.Next(&header);
  if (!more.ok()) return more.status();
  if (!*more) return absl::InvalidArgumentError("the file is empty: it has no header line");
  if (!header.refusal.empty())
    return absl::InvalidArgumentError(absl::StrCat("the header: ", header.refusal));
  header_ = std::move(header.cells);
  const auto typed = RecBoleHeader(header_);
  if (typed.empty() && options_.format == RowFormat::kRecBole) {
    return absl::InvalidArgumentError(
        absl::StrCat("the header is not one of RecBole, where each column is NAME:TYPE (token, token_seq, "
                     "float, float_seq): ",
                     Quoted(absl::StrJoin(header_, " "))));
  }
  for (size_t i = 0; i < typed.size(); ++i) {
    header_[i] = typed[i].name;
    header_types_.push_back(typed[i].type);
  }
  std::set<std::string> names;
  for (size_t i = 0; i < header_.size(); ++i) {
    if (header_[i].empty()) {
      if (options_.mapping.only_mapped) continue;
      return absl::InvalidArgumentError(absl::StrCat("the header has no name for column ", i + 1));
    }
    if (!names.insert(header_[i]).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("the header names the column ", Quoted(header_[i]), " twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status TableRows::BindColumns() {
  const FieldMapping& mapping = options_.mapping;
  std::set<size_t> used;
  auto find = [&](const std::string& column, absl::string_view option) -> absl::StatusOr<size_t> {
    const auto at = std::find(header_.begin(), header_.end(), column);
    if (at != header_.end()) return at - header_.begin();
    std::string hint;
    if (absl::StrContains(column, ",")) {
      hint = "; a point of two columns is written FIELD=LATITUDE,LONGITUDE:point";
    }
    if (const size_t colon = column.rfind(':'); colon != std::string::npos) {
      // Perhaps the column is there, and what follows it was meant as a type.
      const std::string name = column.substr(0, colon);
      if (std::find(header_.begin(), header_.end(), name) != header_.end()) {
        hint = absl::StrCat("; ", ParseCellType(column.substr(colon + 1)).status().message());
      }
    }
    return absl::InvalidArgumentError(absl::StrCat("there is no column ", Quoted(column), " (", option,
                                                   "); the file has ", absl::StrJoin(header_, ", "), hint));
  };
  for (const std::string& dropped : mapping.dropped) {
    auto column = find(dropped, "to drop");
    if (!column.ok()) return column.status();
    used.insert(*column);
  }
  const auto is_column = [&](const std::string& name) {
    return std::find(header_.begin(), header_.end(), name) != header_.end();
  };
  for (const MappedField& mapped : mapping.fields) {
    if (const auto both = ColumnsOfPoint(mapped, is_column)) {
      const size_t latitude = *find(both->first, ""), longitude = *find(both->second, "");
      used.insert({latitude, longitude});
      targets_.push_back({latitude, mapped.field, mapped.type, longitude});
      continue;
    }
    auto column = find(mapped.column, absl::StrCat("mapped to ", mapped.field));
    if (!column.ok()) return column.status();
    used.insert(*column);
    targets_.push_back({*column, mapped.field, mapped.type});
  }
  std::set<std::string> taken;
  for (const MappedField& mapped : mapping.fields) taken.insert(mapped.field);
  for (const auto& constant : mapping.constants) taken.insert(constant.first);
  for (size_t column = 0; column < header_.size(); ++column) {
    if (mapping.only_mapped || used.count(column) != 0) continue;
    const std::string& name = header_[column];
    if (options_.kind == RowKind::kEvent && !IsEventField(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the column ", Quoted(name), " is no field of an event: say which it is (--map FIELD=", name,
          "), keep it as your own (--map properties.", name, "=", name, ") or leave it out (--drop ", name,
          "). An event has ", EventFieldNames()));
    }
    if (taken.count(name) != 0) {
      return absl::InvalidArgumentError(absl::StrCat("the field ", Quoted(name),
                                                     " is set, and the file has a column of that name too: "
                                                     "leave it out (--drop ",
                                                     name, ")"));
    }
    targets_.push_back({column, name, {}});
  }
  const bool has_id = taken.count("id") != 0 || std::any_of(targets_.begin(), targets_.end(),
                                                            [](const Target& t) { return t.field == "id"; });
  if (options_.kind != RowKind::kEvent && options_.has_ids && !has_id) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no column 'id': say which one holds it (--id-column COLUMN); the file has ",
                     absl::StrJoin(header_, ", ")));
  }
  for (Target& target : targets_) {
    if (target.type.kind == CellType::Kind::kAuto) target.type = TypeOfField(target.field, options_.kind);
    if (target.type.kind == CellType::Kind::kAuto && !header_types_.empty()) {
      target.type = header_types_[target.column];
    }
    target.inferred = target.type.kind == CellType::Kind::kAuto;
  }
  return absl::OkStatus();
}

absl::Status TableRows::InferTypes() {
  if (std::none_of(targets_.begin(), targets_.end(), [](const Target& t) { return t.inferred; })) {
    return absl::OkStatus();
  }
  size_t bytes = 0;
  while (ahead_.size() < kRowsForTypes && bytes < kBytesForTypes) {
    CsvRecord record;
    auto more = records_.Next(&record);
    if (!more.ok()) return more.status();
    if (!*more) break;
    for (const std::string& cell : record.cells) bytes += cell.size();
    ahead_.push_back(std::move(record));
  }
  for (Target& target : targets_) {
    if (!target.inferred) continue;
    std::vector<std::string> cells;
    for (const CsvRecord& record : ahead_) {
      if (record.cells.size() == header_.size()) cells.push_back(record.cells[target.column]);
    }
    target.type = InferColumnType(cells);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> TableRows::NextRecord(CsvRecord* record) {
  if (ahead_.empty()) return records_.Next(record);
  *record = std::move(ahead_.front());
  ahead_.pop_front();
  return true;
}

absl::StatusOr<bool> TableRows::Next(Row* row) {
  CsvRecord record;
  do {
    auto more = NextRecord(&record);
    if (!more.ok()) {
      return absl::Status(more.status().code(),
                          absl::StrCat("after line ", line_, ": ", more.status().message()));
    }
    if (!*more) return false;
    line_ = record.line;
  } while (record.line <= options_.skip_lines);
  *row = {};
  row->line = record.line;
  if (record.refusal.empty() && record.cells.size() != header_.size()) {
    record.refusal =
        absl::StrCat("the row has ", record.cells.size(), " cells, the header has ", header_.size());
  }
  if (record.refusal.empty()) {
    if (auto status = Fill(record, &row->fields); !status.ok())
      record.refusal = std::string(status.message());
  }
  row->refusal = std::move(record.refusal);
  return true;
}

absl::Status TableRows::FillPoint(const Target& target, const CsvRecord& record,
                                  google::protobuf::Struct* fields) const {
  auto point = PointOfCells(record.cells[target.column], record.cells[*target.longitude]);
  if (!point.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("the columns ", Quoted(header_[target.column]), " and ",
                                                   Quoted(header_[*target.longitude]), " ",
                                                   point.status().message()));
  }
  if (*point) SetField(target.field, **std::move(point), options_.kind, fields);
  return absl::OkStatus();
}

absl::Status TableRows::Fill(const CsvRecord& record, google::protobuf::Struct* fields) const {
  for (const Target& target : targets_) {
    if (target.longitude) {
      if (auto status = FillPoint(target, record, fields); !status.ok()) return status;
      continue;
    }
    auto value = CellValue(record.cells[target.column], target.type);
    if (!value.ok()) {
      const std::string& name = header_[target.column];
      std::string remedy;
      if (target.inferred) {
        remedy = absl::StrCat("; the first rows made it a column of type ", CellTypeName(target.type),
                              " (--map ", target.field, "=", name, ":text takes it as text)");
      }
      return absl::InvalidArgumentError(
          absl::StrCat("the column ", Quoted(name), " ", value.status().message(), remedy));
    }
    if (*value) SetField(target.field, **std::move(value), options_.kind, fields);
  }
  for (const auto& [field, value] : options_.mapping.constants) {
    SetField(field, value, options_.kind, fields);
  }
  return absl::OkStatus();
}

}  // namespace waymark
