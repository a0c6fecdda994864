#include "training/shard_pool.h"

#include <algorithm>

namespace waymark {

ShardPool::ShardPool(int threads) : threads_(std::max(threads, 1)) {
  for (size_t t = 1; t < threads_; ++t) workers_.emplace_back([this, t] { Serve(t); });
}

ShardPool::~ShardPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ShardPool::RunOwn(size_t thread) {
  try {
    for (size_t part = thread; part < parts_; part += threads_) (*work_)(part);
  } catch (...) {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void ShardPool::Run(size_t parts, const std::function<void(size_t)>& work) {
  {
    std::lock_guard lock(mutex_);
    work_ = &work;
    parts_ = parts;
    running_ = workers_.size();
    failure_ = nullptr;
    ++round_;
  }
  start_.notify_all();
  RunOwn(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

void ShardPool::Serve(size_t thread) {
  uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    RunOwn(thread);
    {
      std::lock_guard lock(mutex_);
      --running_;
    }
    done_.notify_one();
  }
}

}  // namespace waymark
