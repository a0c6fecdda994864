// What an operator says of a schema, put into the schema that is there: who declares one field must not lose
// the others.
#pragma once
#include "absl/status/statusor.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

// `present` with `changes`: a field that `changes` names is replaced or added, one that it names without a
// type and with nothing else is dropped, and the others stay, in their order. Settings of the analysis stay
// where `changes` leaves them empty; `remove_stop_words` counts as said where `changes` names the language,
// and can else only be switched on. INVALID_ARGUMENT: a field that is named twice or dropped and not there,
// or nothing is left. The fields themselves are checked by Schema::FromRecord.
absl::StatusOr<storage::SchemaRecord> MergeSchema(const storage::SchemaRecord& present,
                                                  const storage::SchemaRecord& changes);

// Whether a field is named and nothing is said of it, which drops it.
bool SaysNothing(const storage::FieldRecord& field);

}  // namespace waymark
