#include "store/rows/field_mapping.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "store/rows/json_struct.h"
#include "store/rows/utf8.h"

namespace waymark {
namespace {

using google::protobuf::Value;
using Kind = CellType::Kind;

struct EventField {
  absl::string_view name;
  Kind type;
};
constexpr EventField kEventFields[] = {
    {"event_id", Kind::kText},      {"type", Kind::kText},
    {"user_id", Kind::kText},       {"visitor_id", Kind::kText},
    {"session_id", Kind::kText},    {"item_id", Kind::kText},
    {"items", Kind::kJson},         {"time", Kind::kTime},
    {"value", Kind::kNumber},       {"query", Kind::kText},
    {"surface", Kind::kText},       {"context", Kind::kJson},
    {"request_id", Kind::kText},    {"attribution_token", Kind::kText},
    {"position", Kind::kInteger},   {"properties", Kind::kJson},
    {"received_time", Kind::kTime}, {"arm", Kind::kText},
};

// «context.country» -> «context», «country».
bool SplitNested(absl::string_view field, absl::string_view* outer, absl::string_view* inner) {
  for (absl::string_view name : {"context", "properties"}) {
    if (field.size() > name.size() + 1 && absl::StartsWith(field, name) && field[name.size()] == '.') {
      *outer = name;
      *inner = field.substr(name.size() + 1);
      return true;
    }
  }
  return false;
}

absl::Status SplitAtEquals(absl::string_view text, absl::string_view form, absl::string_view* field,
                           absl::string_view* rest) {
  const size_t at = text.find('=');
  if (at == absl::string_view::npos || at == 0) {
    return absl::InvalidArgumentError(absl::StrCat(Quoted(text), " is not of the form ", form));
  }
  *field = text.substr(0, at);
  *rest = text.substr(at + 1);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MappedField> ParseMappedField(absl::string_view text) {
  absl::string_view field, column;
  constexpr absl::string_view kForm = "FIELD=COLUMN or FIELD=COLUMN:TYPE";
  if (auto status = SplitAtEquals(text, kForm, &field, &column); !status.ok()) return status;
  MappedField mapped{std::string(field), std::string(column), {}};
  for (size_t at = column.find(':'); at != absl::string_view::npos; at = column.find(':', at + 1)) {
    auto type = ParseCellType(column.substr(at + 1));
    if (!type.ok()) continue;
    mapped.column = std::string(column.substr(0, at));
    mapped.type = *type;
    break;
  }
  if (mapped.column.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(Quoted(text), " names no column; it is ", kForm));
  }
  return mapped;
}

std::optional<std::pair<std::string, std::string>> ColumnsOfPoint(
    const MappedField& mapped, absl::FunctionRef<bool(const std::string& name)> is_column) {
  if (mapped.type.kind != Kind::kPoint || is_column(mapped.column)) return std::nullopt;
  for (size_t at = mapped.column.find(','); at != std::string::npos; at = mapped.column.find(',', at + 1)) {
    auto both = std::make_pair(mapped.column.substr(0, at), mapped.column.substr(at + 1));
    if (is_column(both.first) && is_column(both.second)) return both;
  }
  return std::nullopt;
}

absl::StatusOr<std::pair<std::string, Value>> ParseConstant(absl::string_view text) {
  absl::string_view field, given;
  if (auto status = SplitAtEquals(text, "FIELD=VALUE", &field, &given); !status.ok()) return status;
  Value value;
  if (!ParseJsonValue(given, &value).ok()) value.set_string_value(std::string(given));
  return std::make_pair(std::string(field), value);
}

bool IsEventField(absl::string_view field) {
  absl::string_view outer, inner;
  if (SplitNested(field, &outer, &inner)) return true;
  for (const EventField& known : kEventFields) {
    if (known.name == field) return true;
  }
  return false;
}

std::string EventFieldNames() {
  std::string names;
  for (const EventField& known : kEventFields) absl::StrAppend(&names, names.empty() ? "" : ", ", known.name);
  return names;
}

CellType TypeOfField(absl::string_view field, RowKind kind) {
  if (kind != RowKind::kEvent) return {field == "id" ? Kind::kText : Kind::kAuto, ""};
  for (const EventField& known : kEventFields) {
    if (known.name == field) return {known.type, ""};
  }
  return {};
}

absl::Status CheckMapping(const FieldMapping& mapping, RowKind kind) {
  std::set<std::string> seen;
  auto check = [&](const std::string& field) -> absl::Status {
    if (kind == RowKind::kEvent && !IsEventField(field)) {
      return absl::InvalidArgumentError(
          absl::StrCat("an event has no field ", Quoted(field), "; it has ", EventFieldNames(),
                       ", and context.KEY and properties.KEY for keys of your own"));
    }
    if (!seen.insert(field).second) {
      return absl::InvalidArgumentError(absl::StrCat("the field ", Quoted(field), " is set twice"));
    }
    return absl::OkStatus();
  };
  for (const MappedField& mapped : mapping.fields) {
    if (auto status = check(mapped.field); !status.ok()) return status;
    for (const std::string& dropped : mapping.dropped) {
      const bool of_point =
          mapped.type.kind == Kind::kPoint && (absl::StartsWith(mapped.column, absl::StrCat(dropped, ",")) ||
                                               absl::EndsWith(mapped.column, absl::StrCat(",", dropped)));
      if (dropped == mapped.column || of_point) {
        return absl::InvalidArgumentError(
            absl::StrCat("the column ", Quoted(dropped), " is both mapped and dropped"));
      }
    }
  }
  for (const auto& constant : mapping.constants) {
    if (auto status = check(constant.first); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void SetField(absl::string_view field, Value value, RowKind kind, google::protobuf::Struct* row) {
  absl::string_view outer, inner;
  if (kind == RowKind::kEvent && SplitNested(field, &outer, &inner)) {
    auto* nested = (*row->mutable_fields())[std::string(outer)].mutable_struct_value();
    (*nested->mutable_fields())[std::string(inner)] = std::move(value);
    return;
  }
  (*row->mutable_fields())[std::string(field)] = std::move(value);
}

}  // namespace waymark
