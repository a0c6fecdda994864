#include "store/rows/json_rows.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "store/rows/json_struct.h"
#include "store/rows/utf8.h"

namespace waymark {

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
    for (const MappedField& m : mapping.fields) mapped.mutable_fields()->erase(m.column);
    for (const MappedField& m : mapping.fields) {
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
