// Where ranks find each other before they have a process group: a store that rank 0 holds, or the launcher's
// agent.
//
//   auto store = MeetAtStore(place, std::chrono::seconds(60));   // throws when it cannot be reached
//   ... what fails then: absl::StrCat(why, MissingRanks(store, place.world_size))
//
// Includes LibTorch.
#pragma once
#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "training/distributed/launch.h"

namespace waymark {

// One a restart of the launcher, in which this rank is marked as there. Throws what c10d throws.
c10::intrusive_ptr<c10d::Store> MeetAtStore(const LaunchPlace& place, std::chrono::milliseconds timeout);

// «; ranks 1, 2 have not come» of those that are not marked. Empty: all are, or the store has gone or is
// none.
std::string MissingRanks(const c10::intrusive_ptr<c10d::Store>& store, int size);

// «; no address of HOST is known: ...»; empty where one is.
std::string UnresolvedHost(const std::string& host);

}  // namespace waymark
