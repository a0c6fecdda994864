// Items and schemas from JSON, for tests.
#pragma once
#include <google/protobuf/util/json_util.h>

#include <memory>
#include <string>

#include "catalog/schema.h"
#include "tests/support/catch.h"
#include "waymark/storage/records.pb.h"

namespace waymark::tests {

inline google::protobuf::Struct Fields(const std::string& json) {
  google::protobuf::Struct fields;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &fields);
  INFO(json << ": " << status.ToString());
  REQUIRE(status.ok());
  return fields;
}

inline storage::ItemRecord Record(const std::string& id, const std::string& json) {
  storage::ItemRecord record;
  record.set_id(id);
  *record.mutable_fields() = Fields(json);
  record.set_version(1);
  record.set_create_time_us(1);
  return record;
}

// The schema as protobuf JSON: {"fields": [{"name": "year", "type": "INTEGER", "filterable": true}]}.
inline storage::SchemaRecord SchemaRecordOf(const std::string& json) {
  storage::SchemaRecord record;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &record);
  INFO(json << ": " << status.ToString());
  REQUIRE(status.ok());
  return record;
}

// The schema that these items, in order, give when nobody declares one.
inline Schema Inferred(std::initializer_list<std::string> items) {
  Schema schema;
  for (const std::string& item : items) {
    bool changed = false;
    schema = schema.ExtendedBy(Fields(item), &changed);
  }
  return schema;
}

}  // namespace waymark::tests
