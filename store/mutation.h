// What can be written, and what a write answers.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/protobuf/struct.pb.h"
#include "store/ids.h"
#include "store/log_position.h"

namespace waymark {

// Replaces the item whole.
struct PutItem {
  std::string id;
  google::protobuf::Struct fields;
};
// Takes `paths` (top-level field names; empty: all of `fields`) from `fields`; a path that `fields` lacks is
// removed.
struct UpdateItem {
  std::string id;
  google::protobuf::Struct fields;
  std::vector<std::string> paths;
  int64_t expected_version = 0;  // 0: any
};
struct DeleteItem {
  std::string id;
};
struct PutUser {
  std::string id;
  google::protobuf::Struct fields;
};
struct UpdateUser {
  std::string id;
  google::protobuf::Struct fields;
  std::vector<std::string> paths;
  int64_t expected_version = 0;
};
// Erasure: attributes, history, log payloads of the user and the id map entry.
struct DeleteUser {
  std::string id;
};
// An event as the API has it; ids are text and are resolved by the write. The type is a known name.
struct WriteEvent {
  struct Item {
    std::string item_id;
    int32_t position = 0;
    double quantity = 0, price = 0;
    std::string currency;
  };
  std::string event_id;  // empty: one is made
  std::string type;
  std::string user_id, visitor_id;  // at least one; with both it is the user's, and identify joins them
  std::string session_id;
  std::vector<Item> items;
  std::optional<absl::Time> time;           // none: now
  std::optional<absl::Time> received_time;  // imports set it to `time`; none: now
  std::optional<double> value;
  std::string query, surface, request_id, attribution_token;
  std::string arm;  // «experiment/arm» that served what it reacts to
  google::protobuf::Struct context, properties;
};

using Mutation = std::variant<PutItem, UpdateItem, DeleteItem, PutUser, UpdateUser, DeleteUser, WriteEvent>;

struct MutationResult {
  absl::Status status;     // INVALID_ARGUMENT names the field, what it holds and what it takes
  int64_t version = 0;     // of the item or user
  bool duplicate = false;  // an event with this event_id was there already: nothing was written
  std::string event_id;    // of an event
};

struct WriteReceipt {
  std::vector<MutationResult> results;  // one for each mutation, in order
  LogPosition position;                 // covers everything written
};

}  // namespace waymark
