#include "training/distributed/rank_meeting.h"

#include <netdb.h>

#include <cstdlib>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace waymark {
namespace {

std::string HereKey(int rank) { return absl::StrCat("here/", rank); }

}  // namespace

c10::intrusive_ptr<c10d::Store> MeetAtStore(const LaunchPlace& place, std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(place.port);
  options.isServer = place.rank == 0 && !place.agent_store;
  options.numWorkers = place.world_size;
  options.waitWorkers = false;
  options.timeout = timeout;
  if (const char* held = std::getenv("WAYMARK_LISTEN_DESCRIPTOR"); held != nullptr && options.isServer) {
    options.masterListenFd = std::atoi(held);
  }
  auto store = c10::make_intrusive<c10d::TCPStore>(place.host, options);
  auto of_run =
      c10::make_intrusive<c10d::PrefixStore>(absl::StrCat("waymark/", place.restart), std::move(store));
  of_run->set(HereKey(place.rank), std::vector<uint8_t>{1});
  return of_run;
}

std::string MissingRanks(const c10::intrusive_ptr<c10d::Store>& store, int size) {
  constexpr size_t kNamed = 8;
  std::vector<std::string> missing;
  try {
    for (int r = 0; store != nullptr && r < size && missing.size() <= kNamed; ++r) {
      if (!store->check({HereKey(r)})) missing.push_back(absl::StrCat(r));
    }
  } catch (const std::exception&) {  // who holds it has gone
    return "";
  }
  if (missing.empty()) return "";
  const bool one = missing.size() == 1;
  if (missing.size() > kNamed) missing.back() = "...";
  return absl::StrCat("; rank", one ? " " : "s ", absl::StrJoin(missing, ", "), one ? " has" : " have",
                      " not come");
}

std::string UnresolvedHost(const std::string& host) {
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, nullptr, &found);
  if (error == 0) freeaddrinfo(found);
  return error == 0 ? "" : absl::StrCat("; no address of ", host, " is known: ", gai_strerror(error));
}

}  // namespace waymark
