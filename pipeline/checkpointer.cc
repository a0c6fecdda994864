#include "pipeline/checkpointer.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace waymark {
namespace {

// A checkpoint of the catalogue takes about 50 bytes an item, a change at least as many as this many items.
constexpr int64_t kItemsAChange = 50;
// After one that failed (a full disk).
constexpr absl::Duration kCheckpointRetry = absl::Seconds(30);
// Between two looks at the clock.
constexpr std::chrono::seconds kLook(1);

}  // namespace

int64_t ChangesBeforeCheckpoint(const CheckpointPolicy& policy, int64_t items) {
  return std::max(policy.changes, items / kItemsAChange);
}

bool CheckpointDue(const CheckpointPolicy& policy, int64_t items, int64_t changes, absl::Duration since_try,
                   bool failed) {
  if (since_try >= policy.interval) return true;
  if (changes < ChangesBeforeCheckpoint(policy, items)) return false;
  return !failed || since_try >= kCheckpointRetry;
}

Checkpointer::Checkpointer(std::string name, const CheckpointPolicy& policy, int64_t replayed,
                           std::function<int64_t()> items, std::function<absl::Status()> checkpoint)
    : name_(std::move(name)),
      policy_(policy),
      items_(std::move(items)),
      checkpoint_(std::move(checkpoint)),
      changes_(replayed),
      thread_([this] { Run(); }) {}

Checkpointer::~Checkpointer() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Checkpointer::Count(int64_t changes) {
  std::lock_guard lock(mutex_);
  changes_ += changes;
  if (changes_ >= wanted_at_) wake_.notify_one();
}

int64_t Checkpointer::changes() const {
  std::lock_guard lock(mutex_);
  return changes_;
}

void Checkpointer::Run() {
  using Clock = std::chrono::steady_clock;  // not the wall's, which is set back at times
  Clock::time_point tried = Clock::now();
  bool failed = false;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const int64_t changes = changes_;
    lock.unlock();
    const bool due =
        CheckpointDue(policy_, items_(), changes, absl::FromChrono(Clock::now() - tried), failed);
    if (due) {
      tried = Clock::now();
      const absl::Status status = checkpoint_();
      failed = !status.ok();
      if (failed) {
        spdlog::error("checkpoint_failed collection={} reason=\"{}\"", name_, std::string(status.message()));
      }
    }
    const int64_t wanted_at =
        failed ? std::numeric_limits<int64_t>::max() : ChangesBeforeCheckpoint(policy_, items_());
    lock.lock();
    if (due && !failed) changes_ -= changes;
    wanted_at_ = wanted_at;
    wake_.wait_for(lock, kLook, [this] { return stop_ || changes_ >= wanted_at_; });
  }
}

}  // namespace waymark
