// The typed fields of a collection's items: declared by the operator, or found from the data.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

using FieldType = storage::FieldRecord::Type;
using Field = storage::FieldRecord;

inline constexpr int kMostDimensions = 4096;

// A field whose name has dots and is not there itself lies inside objects (catalog/field_path.h).
// Immutable; shared by pointer. Thread-safe.
class Schema {
 public:
  explicit Schema(storage::SchemaRecord record = {});
  // INVALID_ARGUMENT names the field: doubled or empty names, weights that are negative, a title that is no
  // text, ...
  static absl::StatusOr<Schema> FromRecord(storage::SchemaRecord record);

  const Field* Find(std::string_view name) const;
  const std::vector<Field>& fields() const { return fields_; }
  const Field* TitleField() const;  // null: none
  const storage::SchemaRecord& record() const { return record_; }

  // Whether `fields` fits: every schema field has its type (or is absent or null), numbers are finite,
  // integers are whole and within 2^53, text is valid UTF-8. The error names the field, what it holds and
  // what it takes.
  absl::Status Check(const google::protobuf::Struct& fields) const;

  // The schema with fields added that `fields` has and this one lacks; equal when there are none. Rules of
  // finding types are in schema_inference.h. A declared schema never grows by itself.
  Schema ExtendedBy(const google::protobuf::Struct& fields, bool* changed) const;

 private:
  storage::SchemaRecord record_;
  std::vector<Field> fields_;
  absl::flat_hash_map<std::string, size_t> by_name_;
  std::vector<size_t> paths_;  // fields whose names have dots: they may lie inside objects
};

}  // namespace waymark
