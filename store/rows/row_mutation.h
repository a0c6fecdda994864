// Rows as the store takes them.
//
// The flat form is that of docs and exports: an item or user is its id and its fields side by side; an event
// has the fields of EventFieldNames() and nothing else, so that a misspelt key is refused by name rather than
// lost.
//
//   absl::StatusOr<PutItem> item = ItemFromRow(std::move(row.fields));
#pragma once
#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/struct.pb.h"
#include "store/mutation.h"

namespace waymark {

// INVALID_ARGUMENT names the field: no id, an id that is no text, is empty or longer than kMaxIdBytes.
absl::StatusOr<PutItem> ItemFromRow(google::protobuf::Struct row);
absl::StatusOr<PutUser> UserFromRow(google::protobuf::Struct row);

// Also: no type, neither user_id nor visitor_id, a time that is none, an unknown key. An import knows a fact
// when it happened: received_time is `time` unless the row has its own.
absl::StatusOr<WriteEvent> EventFromRow(const google::protobuf::Struct& row);

}  // namespace waymark
