// A checked mutation on its way into the log: what can be worked out before the commit is worked out here, on
// the writer's own thread.
//
//   PreparedEvent event = PrepareEvent(std::move(write), type, now, fallback_id);
//   event.record lacks the user, the visitor and the items' ordinals: the commit fills those in
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "store/event_types.h"
#include "store/mutation.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

struct PreparedEvent {
  storage::EventRecord record;
  std::string user_id, visitor_id;
  std::vector<std::string> item_ids;  // one for each of record.items
  bool fresh_id = false;              // made by us: cannot have been written before
};

using PreparedMutation =
    std::variant<PutItem, UpdateItem, DeleteItem, PutUser, UpdateUser, DeleteUser, PreparedEvent>;

// `made_id` is taken when the event has no id.
PreparedEvent PrepareEvent(WriteEvent event, const EventType& type, absl::Time now, std::string made_id);

// About how much memory and log it takes.
size_t SizeOf(const PreparedMutation& mutation);

}  // namespace waymark
