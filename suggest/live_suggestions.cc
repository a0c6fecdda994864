#include "suggest/live_suggestions.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "suggest/asked_instead.h"
#include "suggest/suggestion_worker.h"

namespace waymark {
namespace {

constexpr absl::Duration kFirstRetry = absl::Seconds(1), kLastRetry = absl::Seconds(30);
// Between rounds while somebody waits, for a build perhaps: longer each time.
constexpr absl::Duration kFirstAwait = absl::Milliseconds(2), kLastAwait = absl::Milliseconds(100);

std::chrono::steady_clock::duration Chrono(absl::Duration duration) {
  return absl::ToChronoNanoseconds(std::clamp(duration, absl::ZeroDuration(), absl::Hours(1)));
}

}  // namespace

class LiveSuggestions::Impl {
 public:
  Impl(SuggestionParts parts, const SuggestionOptions& options)
      : parts_(std::move(parts)),
        options_(options),
        worker_(&parts_, &options_, [this](std::shared_ptr<const SuggestionSnapshot> fresh) {
          std::lock_guard lock(mutex_);
          snapshot_ = std::move(fresh);
        }) {}

  ~Impl() {
    worker_.Stop();
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  void Start() {
    std::lock_guard lock(mutex_);
    if (thread_.joinable() || stop_) return;
    thread_ = std::thread([this] { Run(); });
  }

  std::shared_ptr<const SuggestionSnapshot> snapshot() const {
    std::lock_guard lock(mutex_);
    return snapshot_;
  }

  // Until `reached` says so, with rounds in a row meanwhile. Needs a whole round that begins after the call.
  template <class Reached>
  absl::Status Await(absl::Time until, const Reached& reached) {
    Start();
    std::unique_lock lock(mutex_);
    const uint64_t round = rounds_begun_ + 1;
    ++waiting_;
    asked_ = true;
    changed_.notify_all();
    bool done = false;
    while (!(done = rounds_ended_ >= round && reached()) && !stop_) {
      const absl::Duration left = until - absl::Now();
      if (left <= absl::ZeroDuration()) break;
      changed_.wait_for(lock, Chrono(left));
    }
    --waiting_;
    if (done) return absl::OkStatus();
    if (stop_) return absl::CancelledError("the suggestions are closing");
    if (!round_status_.ok()) return round_status_;
    return absl::DeadlineExceededError(
        "the suggestions have not taken in all that was written in time; ask again, or allow more time");
  }

  absl::Status CatchUpTo(LogOffset offset, absl::Time until) {
    return Await(until, [this, offset] { return snapshot_ != nullptr && snapshot_->position >= offset; });
  }

  absl::Status AwaitErased(LogOffset offset, absl::Time until) {
    return Await(until, [this, offset] { return read_position_ >= offset; });
  }

  absl::Status Checkpoint() {
    std::unique_lock lock(mutex_);
    if (!thread_.joinable()) return absl::OkStatus();  // nothing is newer than what is kept
    const uint64_t wanted = ++checkpoints_wanted_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return checkpoints_done_ >= wanted || stop_; });
    return checkpoint_status_;
  }

  const SuggestionParts& parts() const { return parts_; }
  SuggestionStatus status() const {
    SuggestionStatus status;
    status.past_queries = static_cast<int64_t>(worker_.past_queries().size());
    status.bytes = static_cast<int64_t>(worker_.past_queries().memory_bytes());
    std::lock_guard lock(mutex_);
    status.rebuild_reason = rebuild_reason_;
    if (snapshot_ == nullptr) return status;
    status.position = snapshot_->position;
    for (const SuggestionLists* lists : {snapshot_->main.get(), snapshot_->tail.get()}) {
      if (lists == nullptr) continue;
      status.entries += static_cast<int64_t>(lists->entries());
      status.bytes += static_cast<int64_t>(lists->memory_bytes());
    }
    if (snapshot_->queries.list != nullptr) {
      status.entries += static_cast<int64_t>(snapshot_->queries.list->entry_count());
      status.bytes += static_cast<int64_t>(snapshot_->queries.list->memory().sum());
    }
    return status;
  }
  bool started() const {
    std::lock_guard lock(mutex_);
    return thread_.joinable();
  }

 private:
  void Run() {
    worker_.Open();
    {
      std::lock_guard lock(mutex_);
      rebuild_reason_ = worker_.rebuild_reason();
    }
    absl::Duration pause = absl::ZeroDuration(), retry = kFirstRetry, await = kFirstAwait;
    while (true) {
      bool eager = false;
      uint64_t checkpoint = 0;
      {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, Chrono(pause),
                          [&] { return stop_ || asked_ || checkpoints_wanted_ > checkpoints_done_; });
        if (asked_) await = kFirstAwait;
        asked_ = false;
        if (stop_) return;
        eager = waiting_ > 0;
        checkpoint = checkpoints_wanted_;
        ++rounds_begun_;
      }
      const auto more = worker_.Round(eager);
      absl::Status kept;
      if (checkpoint > checkpoints_done_) kept = worker_.Checkpoint();
      std::lock_guard lock(mutex_);
      rounds_ended_ = rounds_begun_;
      round_status_ = more.status();
      if (more.ok()) read_position_ = worker_.read_position();
      checkpoint_status_ = kept;
      checkpoints_done_ = checkpoint;
      changed_.notify_all();
      if (more.ok()) {
        retry = kFirstRetry;
        pause = *more ? absl::ZeroDuration() : waiting_ > 0 ? await : options_.refresh_interval;
        await = std::min(await * 2, kLastAwait);
      } else {
        spdlog::error("suggestions_not_refreshed reason=\"{}\" retry_in={}",
                      std::string(more.status().message()), absl::FormatDuration(retry));
        pause = retry;
        retry = std::min(retry * 2, kLastRetry);
      }
    }
  }

  const SuggestionParts parts_;
  const SuggestionOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const SuggestionSnapshot> snapshot_;
  bool stop_ = false;
  bool asked_ = false;  // since the last round began
  int waiting_ = 0;
  uint64_t rounds_begun_ = 0, rounds_ended_ = 0;
  uint64_t checkpoints_wanted_ = 0, checkpoints_done_ = 0;
  absl::Status round_status_, checkpoint_status_;
  LogOffset read_position_ = 0;
  std::string rebuild_reason_;
  SuggestionWorker worker_;  // once the thread runs, the thread's alone
  std::thread thread_;
};

LiveSuggestions::LiveSuggestions(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LiveSuggestions::~LiveSuggestions() = default;

std::unique_ptr<LiveSuggestions> LiveSuggestions::Open(SuggestionParts parts,
                                                       const SuggestionOptions& options) {
  return std::unique_ptr<LiveSuggestions>(
      new LiveSuggestions(std::make_unique<Impl>(std::move(parts), options)));
}

void LiveSuggestions::Start() { impl_->Start(); }
bool LiveSuggestions::started() const { return impl_->started(); }

absl::Status LiveSuggestions::CatchUpTo(LogOffset offset, absl::Time until) {
  return impl_->CatchUpTo(offset, until);
}

absl::Status LiveSuggestions::AwaitErased(LogOffset offset, absl::Time until) {
  return impl_->AwaitErased(offset, until);
}

absl::StatusOr<SuggestAnswer> LiveSuggestions::Suggest(const SuggestRequest& request, Deadline deadline) {
  auto snapshot = impl_->snapshot();
  if (snapshot == nullptr) {
    if (auto status = impl_->CatchUpTo(0, deadline.when()); !status.ok()) return status;
    snapshot = impl_->snapshot();
  }
  return AnswerSuggest(*snapshot, impl_->parts().lists, request, deadline);
}

std::string LiveSuggestions::AskedInstead(std::string_view query, Deadline deadline) const {
  const auto snapshot = impl_->snapshot();
  return snapshot == nullptr ? std::string() : waymark::AskedInstead(snapshot->queries, query, deadline);
}

absl::Status LiveSuggestions::Checkpoint() { return impl_->Checkpoint(); }
SuggestionStatus LiveSuggestions::status() const { return impl_->status(); }

}  // namespace waymark
