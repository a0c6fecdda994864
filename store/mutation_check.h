// What a write takes, checked before it queues: everything that can be told without reading the store.
//
//   absl::Status status = CheckMutation(mutation, types, clock->Now());
//
// INVALID_ARGUMENT names the field, what it holds (shortened), and what it takes.
#pragma once
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "store/event_types.h"
#include "store/mutation.h"

namespace waymark {

inline constexpr size_t kMaxEventItems = 1000;
inline constexpr size_t kMaxEventQueryBytes = 2048;
inline constexpr size_t kMaxAttributionTokenBytes = 4096;
// Clocks of clients run ahead; an event from further in the future is a wrong clock or a wrong unit.
inline constexpr absl::Duration kMaxFuture = absl::Hours(24);

absl::Status CheckMutation(const Mutation& mutation, const EventTypes& types, absl::Time now);

}  // namespace waymark
