#include "store/commit_queue.h"

#include <atomic>
#include <thread>

#include "tests/support/catch.h"

namespace waymark {
namespace {

struct Numbered : CommitQueue::Entry {
  int number = 0;
  bool committed = false;
};

}  // namespace

TEST_CASE("every entry is committed once, by one thread at a time, in groups within their limit") {
  std::atomic<int> inside = 0, overlaps = 0;
  std::vector<int> order;
  size_t largest_group = 0, groups = 0;
  CommitQueue queue({.queued_bytes = 1000, .group_bytes = 80},
                    [&](absl::Span<CommitQueue::Entry* const> group) {
                      if (inside++ != 0) ++overlaps;
                      size_t bytes = 0;
                      for (CommitQueue::Entry* entry : group) {
                        auto& numbered = static_cast<Numbered&>(*entry);
                        numbered.committed = true;
                        order.push_back(numbered.number);
                        bytes += entry->bytes;
                      }
                      largest_group = std::max(largest_group, bytes);
                      ++groups;
                      std::this_thread::sleep_for(std::chrono::microseconds(200));
                      --inside;
                    });
  constexpr int kThreads = 16, kEach = 50;
  std::atomic<int> lost = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        Numbered entry;
        entry.number = t * kEach + i;
        entry.bytes = 10;
        queue.Submit(entry);
        if (!entry.committed) ++lost;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(lost == 0);
  CHECK(overlaps == 0);
  CHECK(largest_group <= 80);
  CHECK(groups < kThreads * kEach);  // writers shared
  REQUIRE(order.size() == kThreads * kEach);
  // A thread's own entries keep their order.
  std::vector<int> last(kThreads, -1);
  for (int number : order) {
    CHECK(last[static_cast<size_t>(number / kEach)] < number);
    last[static_cast<size_t>(number / kEach)] = number;
  }
}

TEST_CASE("an entry larger than the queue is a group of its own") {
  std::vector<size_t> groups;
  CommitQueue queue({.queued_bytes = 10, .group_bytes = 5},
                    [&](absl::Span<CommitQueue::Entry* const> group) { groups.push_back(group.size()); });
  Numbered entry;
  entry.bytes = 1000;
  queue.Submit(entry);
  CHECK(groups == std::vector<size_t>{1});
}

}  // namespace waymark
