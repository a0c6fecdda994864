#include "pipeline/checkpointer.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/support/catch.h"

namespace waymark {
namespace {

constexpr absl::Duration kNever = absl::InfiniteDuration();

TEST_CASE("a checkpoint is due after the interval, or after so many changes") {
  const CheckpointPolicy policy{absl::Minutes(5), 1000};
  const auto due = [&](int64_t items, int64_t changes, absl::Duration since, bool failed = false) {
    return CheckpointDue(policy, items, changes, since, failed);
  };
  CHECK_FALSE(due(10, 999, absl::Minutes(4)));
  CHECK(due(10, 0, absl::Minutes(5)));
  CHECK(due(10, 1000, absl::ZeroDuration()));
  // 50 items' columns are written for each change at most.
  CHECK_FALSE(due(100'000, 1999, absl::Minutes(4)));
  CHECK(due(100'000, 2000, absl::ZeroDuration()));
  // A disk that is full is not asked at every write.
  CHECK_FALSE(due(10, 1000, absl::Seconds(29), true));
  CHECK(due(10, 1000, absl::Seconds(30), true));
}

// Counts checkpoints, and lets a test wait for them.
struct Made {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;

  absl::Status Make() {
    std::lock_guard lock(mutex);
    ++count;
    changed.notify_all();
    return absl::OkStatus();
  }
  bool Reaches(int wanted) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(60), [&] { return count >= wanted; });
  }
};

TEST_CASE("changes alone bring a checkpoint about, and what comes later counts for the next") {
  Made made;
  Checkpointer checkpointer(
      "c", {kNever, 100}, 0, [] { return 0; }, [&] { return made.Make(); });
  for (int i = 0; i < 33; ++i) checkpointer.Count(3);
  CHECK(checkpointer.changes() == 99);
  CHECK(made.count == 0);
  checkpointer.Count(7);
  REQUIRE(made.Reaches(1));
  while (checkpointer.changes() != 0) std::this_thread::yield();
  checkpointer.Count(99);
  CHECK(checkpointer.changes() == 99);
  checkpointer.Count(1);
  REQUIRE(made.Reaches(2));
}

TEST_CASE("what a start replays counts, so that crashes in a row do not add up") {
  Made made;
  Checkpointer checkpointer(
      "c", {kNever, 100}, 60, [] { return 0; }, [&] { return made.Make(); });
  CHECK(checkpointer.changes() == 60);
  checkpointer.Count(40);
  CHECK(made.Reaches(1));
}

}  // namespace
}  // namespace waymark
