#include "store/rows/json_rows.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "store/rows/json_struct.h"
#include "store/rows/utf8.h"

namespace waymark {

namespace {

using google::protobuf::Struct;

// A text as it is, else as JSON writes it; what is not there or null: nothing.
std::string CellOf(const Struct& fields, const std::string& name) {
  const auto found = fields.fields().find(name);
  if (found == fields.fields().end() || found->second.has_null_value()) return "";
  if (found->second.has_string_value()) return found->second.string_value();
  std::string text;
  AppendJson(found->second, &text);
  return text;
}

// The two fields that a point is made of in this row, of which one may be missing.
std::optional<std::pair<std::string, std::string>> FieldsOfPoint(const MappedField& mapped,
                                                                 const Struct& fields) {
  const auto is_there = [&](const std::string& name) { return fields.fields().contains(name); };
  auto both = ColumnsOfPoint(mapped, is_there);
  if (both || mapped.type.kind != CellType::Kind::kPoint || is_there(mapped.column)) return both;
  for (size_t at = mapped.column.find(','); at != std::string::npos; at = mapped.column.find(',', at + 1)) {
    both.emplace(mapped.column.substr(0, at), mapped.column.substr(at + 1));
    if (is_there(both->first) || is_there(both->second)) return both;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<bool> JsonRows::Next(Row* row) {
  while (true) {
    Line line;
    auto more = lines_->Next(&line);
    if (!more.ok()) {
      return absl::Status(more.status().code(),
                          absl::StrCat("after line ", line_, ": ", more.status().message()));
    }
    if (!*more) return false;
    line_ = line.number;
    if (line.number <= options_.skip_lines) continue;
    if (!line.too_long && absl::StripAsciiWhitespace(absl::string_view(line.text)).empty()) continue;
    *row = {};
    row->line = line.number;
    if (line.too_long) {
      row->refusal = absl::StrCat("the line is longer than ", options_.max_line_bytes, " bytes");
      return true;
    }
    absl::Status status = ParseJsonObject(line.text, &row->fields);
    if (status.ok()) status = Map(&row->fields);
    if (!status.ok()) row->refusal = std::string(status.message());
    return true;
  }
}

absl::Status JsonRows::Map(google::protobuf::Struct* fields) const {
  const FieldMapping& mapping = options_.mapping;
  for (const std::string& dropped : mapping.dropped) fields->mutable_fields()->erase(dropped);
  if (!mapping.fields.empty() || mapping.only_mapped) {
    google::protobuf::Struct mapped;
    if (!mapping.only_mapped) mapped = *fields;
    for (const MappedField& m : mapping.fields) {
      mapped.mutable_fields()->erase(m.column);
      if (const auto both = FieldsOfPoint(m, *fields)) {
        mapped.mutable_fields()->erase(both->first);
        mapped.mutable_fields()->erase(both->second);
      }
    }
    for (const MappedField& m : mapping.fields) {
      if (const auto both = FieldsOfPoint(m, *fields)) {
        auto point = PointOfCells(CellOf(*fields, both->first), CellOf(*fields, both->second));
        if (!point.ok()) {
          return absl::InvalidArgumentError(absl::StrCat("the fields ", Quoted(both->first), " and ",
                                                         Quoted(both->second), " ",
                                                         point.status().message()));
        }
        if (*point) SetField(m.field, **std::move(point), options_.kind, &mapped);
        continue;
      }
      const auto found = fields->fields().find(m.column);
      if (found == fields->fields().end()) continue;
      auto value = TypedValue(found->second, m.type);
      if (!value.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat("the field ", Quoted(m.column), " ", value.status().message()));
      }
      if (*value) SetField(m.field, **std::move(value), options_.kind, &mapped);
    }
    fields->Swap(&mapped);
  }
  for (const auto& [field, value] : mapping.constants) SetField(field, value, options_.kind, fields);
  return absl::OkStatus();
}

}  // namespace waymark
