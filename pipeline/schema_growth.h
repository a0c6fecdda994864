// How a schema that is found from the data grows with a batch of writes: a function of values.
#pragma once
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "catalog/schema.h"

namespace waymark {

struct SchemaGrowth {
  Schema schema;
  bool grown = false;
  std::vector<absl::Status> results;  // of each row: whether it fits
};

// Checks the rows one after the other (null: nothing to check), each against the schema as those before it
// left it. `takes`: whether the store will take a row; asked only of those that would let the schema grow.
SchemaGrowth GrowSchema(const Schema& schema, absl::Span<const google::protobuf::Struct* const> rows,
                        absl::FunctionRef<bool(size_t row)> takes);

// The fields that an update writes: those that `paths` picks out, all of them without paths.
google::protobuf::Struct WrittenFields(const google::protobuf::Struct& fields,
                                       const std::vector<std::string>& paths);

}  // namespace waymark
