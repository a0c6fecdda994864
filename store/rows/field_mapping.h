// Which column becomes which field: what `--map`, `--set`, `--drop` and `--id-column` say.
//
//   FieldMapping mapping;
//   mapping.fields.push_back(*ParseMappedField("genres=genres:split(|)"));
//   mapping.constants.push_back(*ParseConstant("type=rating"));
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/struct.pb.h"
#include "store/rows/cell_type.h"

namespace waymark {

// What a row stands for; it decides which fields there are and which type each has.
enum class RowKind { kItem, kUser, kEvent };

struct MappedField {
  std::string field, column;  // of a point perhaps two columns, «latitude,longitude»
  CellType type;              // kAuto: the field's own, else what the header or the data say
};

struct FieldMapping {
  std::vector<MappedField> fields;
  std::vector<std::pair<std::string, google::protobuf::Value>> constants;
  std::vector<std::string> dropped;  // columns that are left out
  // Columns that nothing maps are left out too, whatever they hold; they need no name.
  bool only_mapped = false;
};

// The two columns of a point, where none is called as the whole text; none: it is one column.
std::optional<std::pair<std::string, std::string>> ColumnsOfPoint(
    const MappedField& mapped, absl::FunctionRef<bool(const std::string& name)> is_column);

// «field=column», «field=column:type» or «field=latitude,longitude:point». A column may hold colons: only
// what names a type is taken as one.
absl::StatusOr<MappedField> ParseMappedField(absl::string_view text);
// «field=value»: JSON where it is a number, true, false, a list or an object; else text.
absl::StatusOr<std::pair<std::string, google::protobuf::Value>> ParseConstant(absl::string_view text);

// INVALID_ARGUMENT: a field that is set twice, an event without such a field, a column both mapped and
// dropped.
absl::Status CheckMapping(const FieldMapping& mapping, RowKind kind);

// The type that a field has by its meaning; kAuto where the operator's data decide.
CellType TypeOfField(absl::string_view field, RowKind kind);

// Whether an event has this field: one of its own, or context.KEY or properties.KEY.
bool IsEventField(absl::string_view field);
// For messages: «event_id, type, ...».
std::string EventFieldNames();

// Puts `value` where it belongs: `context.country` of an event goes into its context.
void SetField(absl::string_view field, google::protobuf::Value value, RowKind kind,
              google::protobuf::Struct* row);

}  // namespace waymark
