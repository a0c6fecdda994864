#include "training/distributed/rank_signs.h"

#include <chrono>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "tests/support/catch.h"

namespace waymark {
namespace {

using Catch::Matchers::Contains;

LaunchPlace PlaceOf(int rank, int size) {
  LaunchPlace place;
  place.rank = rank;
  place.world_size = size;
  place.host = "10.0.0.1";
  place.port = 29500;
  return place;
}

void Set(c10d::Store& store, const std::string& key, const std::string& text) {
  store.set(key, std::vector<uint8_t>(text.begin(), text.end()));
}

// A store whose holder stands still, or has gone.
class SilentStore : public c10d::HashStore {
 public:
  bool check(const std::vector<std::string>& keys) override {
    if (gone) throw std::runtime_error("connection reset");
    while (silent) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return c10d::HashStore::check(keys);
  }
  std::atomic<bool> silent{false}, gone{false};
};

TEST_CASE("Who gives no sign is named with host and process, and nobody who does") {
  auto store = c10::make_intrusive<c10d::HashStore>();
  RankSigns zero(store, PlaceOf(0, 4)), one(store, PlaceOf(1, 4));
  one.BeginWaiting();
  for (const char* rank : {"2", "3"}) {
    Set(*store, std::string("who/") + rank, "host b, process 41" + std::string(rank));
    Set(*store, std::string("sign/") + rank, "7 1 0.5");  // and never again
  }
  // An exchange of rank 3 has failed, too: it ends without signs.
  Set(*store, "noticed/3", "1");
  const std::string said = one.WhoIsMissing();
  CHECK_THAT(said, Contains("rank 2 (host b, process 412) has ended or stands still"));
  CHECK_THAT(said, !Contains("rank 0") && !Contains("rank 1") && !Contains("rank 3"));
  // Who asks later hears it.
  CHECK_THAT(zero.Told(), Contains("rank 1: rank 2 (host b"));
}

TEST_CASE("A rank that is at work on something else is told from one that stands still") {
  auto store = c10::make_intrusive<c10d::HashStore>();
  RankSigns zero(store, PlaceOf(0, 3)), one(store, PlaceOf(1, 3)), two(store, PlaceOf(2, 3));
  one.BeginWaiting();
  two.BeginWaiting();
  two.EndWaiting();
  zero.BeginWaiting();
  CHECK_THAT(one.WhoIsMissing(), Contains("rank 2 (host ") && Contains("not come to the exchange") &&
                                     Contains("--timeout") && !Contains("rank 0"));
  two.BeginWaiting();
  std::this_thread::sleep_for(std::chrono::seconds(2));
  CHECK(zero.WhoIsMissing().empty());
}

TEST_CASE("A store that does not answer, or has gone, names who holds it within a bounded time") {
  for (const bool of_launcher : {false, true}) {
    // It outlives the test: threads of signs still ask it.
    static std::vector<c10::intrusive_ptr<SilentStore>> kept;
    for (const bool gone : {false, true}) {
      auto store = c10::make_intrusive<SilentStore>();
      kept.push_back(store);
      LaunchPlace place = PlaceOf(1, 2);
      place.agent_store = of_launcher;
      RankSigns one(store, place);
      (gone ? store->gone : store->silent) = true;
      const auto before = std::chrono::steady_clock::now();
      const std::string said = one.WhoIsMissing();
      CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(12));
      CHECK_THAT(said, Contains("10.0.0.1:29500") && Contains(gone ? "has ended" : "does not answer"));
      CHECK_THAT(said, Contains(of_launcher ? "the launcher's store" : "rank 0, which holds"));
      store->silent = false;
    }
  }
}

TEST_CASE("Without a store nobody is named, and nobody is waited for") {
  RankSigns one(nullptr, PlaceOf(1, 2));
  CHECK(one.WhoIsMissing().empty());
  CHECK(one.Told().empty());
  one.Tell("nobody hears it");
}

}  // namespace
}  // namespace waymark
