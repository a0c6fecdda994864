#include "index/index_worker.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr absl::Duration kFirstRetry = absl::Seconds(1), kLastRetry = absl::Seconds(60);
// Between rounds while somebody waits for a part of the log that is not written yet.
constexpr absl::Duration kAwaitLog = absl::Milliseconds(5);

absl::Status Cancelled() { return absl::CancelledError("the keyword index is closing"); }

}  // namespace

IndexWorker::IndexWorker(const Store* store, Scope scope, std::filesystem::path folder,
                         const KeywordIndexOptions& options)
    : refresh_interval_(options.refresh_interval),
      name_(folder.string()),
      maintainer_(store, scope, std::move(folder), options.bm25,
                  [this](std::shared_ptr<const IndexSnapshot> fresh) {
                    std::lock_guard lock(mutex_);
                    snapshot_ = std::move(fresh);
                    changed_.notify_all();
                  }) {}

IndexWorker::~IndexWorker() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

absl::Status IndexWorker::Open() {
  if (absl::Status status = maintainer_.Open(); !status.ok()) return status;
  rebuild_reason_ = maintainer_.rebuild_reason();
  recompile_reason_ = maintainer_.recompile_reason();
  return absl::OkStatus();
}

void IndexWorker::Start(const Catalog* catalog) {
  maintainer_.Use(catalog);
  thread_ = std::thread([this] { Run(); });
}

std::shared_ptr<const IndexSnapshot> IndexWorker::snapshot() const {
  std::lock_guard lock(mutex_);
  return snapshot_;
}

absl::Status IndexWorker::last_error() const {
  std::lock_guard lock(mutex_);
  return round_status_;
}

std::string IndexWorker::rebuild_reason() const {
  std::lock_guard lock(mutex_);
  return rebuild_reason_;
}

std::string IndexWorker::recompile_reason() const {
  std::lock_guard lock(mutex_);
  return recompile_reason_;
}

absl::Status IndexWorker::AwaitRound(absl::Time until) {
  std::unique_lock lock(mutex_);
  return Await(&lock, 0, true, until);
}

absl::Status IndexWorker::AwaitPosition(LogOffset offset, absl::Time until) {
  std::unique_lock lock(mutex_);
  if (snapshot_->position >= offset) return absl::OkStatus();
  return Await(&lock, offset, false, until);
}

absl::Status IndexWorker::Commit() {
  std::unique_lock lock(mutex_);
  commit_wanted_ = true;
  return Await(&lock, 0, true, absl::InfiniteFuture());
}

absl::Status IndexWorker::Rebuild(const std::string& reason) {
  std::unique_lock lock(mutex_);
  rebuild_wanted_ = reason;
  return Await(&lock, 0, true, absl::InfiniteFuture());
}

absl::Status IndexWorker::Await(std::unique_lock<std::mutex>* lock, LogOffset offset, bool whole_round,
                                absl::Time until) {
  const uint64_t before = rounds_begun_;
  const auto round_ended = [&] { return rounds_ended_ > before; };
  const auto reached = [&] { return (!whole_round || round_ended()) && snapshot_->position >= offset; };
  const auto done = [&] { return stop_ || (round_ended() && !round_status_.ok()) || reached(); };
  round_wanted_ = true;
  ++waiting_;
  changed_.notify_all();
  bool in_time = true;
  if (until == absl::InfiniteFuture()) {
    changed_.wait(*lock, done);
  } else {
    in_time = changed_.wait_until(*lock, absl::ToChronoTime(until), done);
  }
  --waiting_;
  if (round_ended() && !round_status_.ok()) return round_status_;
  if (reached()) return absl::OkStatus();
  if (!in_time) {
    return absl::DeadlineExceededError(absl::StrCat("the keyword index has come to log position ",
                                                    snapshot_->position, ", not yet to ", offset));
  }
  return Cancelled();
}

bool IndexWorker::BeginRound(Round* round) {
  std::unique_lock lock(mutex_);
  absl::Duration wait = refresh_interval_ > absl::ZeroDuration() ? refresh_interval_ : absl::Hours(24);
  if (failures_ > 0) {
    wait = std::min(kFirstRetry * (1 << std::min(failures_ - 1, 10)), kLastRetry);
  } else if (waiting_ > 0) {
    wait = std::min(wait, kAwaitLog);
  }
  changed_.wait_for(lock, absl::ToChronoMilliseconds(wait), [&] { return stop_ || round_wanted_; });
  if (stop_) return false;
  round_wanted_ = false;
  round->commit = std::exchange(commit_wanted_, false);
  round->rebuild = std::exchange(rebuild_wanted_, {});
  ++rounds_begun_;
  return true;
}

void IndexWorker::EndRound(absl::Status status) {
  std::lock_guard lock(mutex_);
  rounds_ended_ = rounds_begun_;
  failures_ = status.ok() ? 0 : failures_ + 1;
  if (!status.ok()) {
    spdlog::error("keyword index {}: {} (attempt {})", name_, std::string(status.message()), failures_);
  }
  round_status_ = std::move(status);
  rebuild_reason_ = maintainer_.rebuild_reason();
  recompile_reason_ = maintainer_.recompile_reason();
  changed_.notify_all();
}

void IndexWorker::Run() {
  Round round;
  while (BeginRound(&round)) {
    absl::Status status;
    if (!round.rebuild.empty()) status = maintainer_.RebuildAside(round.rebuild, stop_);
    if (status.ok()) status = maintainer_.Advance(stop_);
    if (status.ok() && round.commit) status = maintainer_.Commit();
    EndRound(std::move(status));
  }
  if (absl::Status status = maintainer_.Commit(); !status.ok()) {
    spdlog::error("keyword index {}: {} (the next start takes the changes from the log again)", name_,
                  std::string(status.message()));
  }
}

}  // namespace waymark
