// Events between the API and the store: text ids on one side, numbers on the other.
#pragma once
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "pipeline/engine.h"
#include "store/mutation.h"
#include "store/store.h"
#include "waymark/v1/event.pb.h"

namespace waymark {

// INVALID_ARGUMENT: `item_id` and `items` both, a time that is none, an attribution token that does not
// verify. `imported`: received when it happened, as history is.
absl::StatusOr<Mutation> EventOf(const Engine& engine, const v1::Event& event, bool imported);

// Turns records into messages; remembers names that it has looked up. For one call; not thread-safe.
class EventReader {
 public:
  EventReader(const Store& store, Scope scope);
  // None: the event belongs to users that have been erased.
  std::optional<v1::Event> Read(const storage::EventRecord& record);

 private:
  struct UserName {
    std::string id;  // empty: erased
    bool visitor = false;
  };
  const UserName& User(UserNumber user);
  const std::string& ItemId(ItemOrdinal item);
  const Store& store_;
  Scope scope_;
  EventTypes types_;
  absl::flat_hash_map<UserNumber, UserName> users_;
  absl::flat_hash_map<ItemOrdinal, std::string> items_;
};

}  // namespace waymark
