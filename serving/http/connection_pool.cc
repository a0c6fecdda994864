#include "serving/http/connection_pool.h"

#include <utility>

namespace waymark {

ConnectionPool::ConnectionPool(int threads, size_t max_waiting) : max_waiting_(max_waiting) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

void ConnectionPool::enqueue(std::function<void()> connection) {
  const auto room = [this] { return stopping_ || waiting_.size() < max_waiting_; };
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&room));
  waiting_.push_back(std::move(connection));
}

void ConnectionPool::shutdown() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

bool ConnectionPool::HasWaiting() {
  absl::MutexLock lock(&mutex_);
  return !waiting_.empty();
}

void ConnectionPool::Work() {
  const auto ready = [this] { return stopping_ || !waiting_.empty(); };
  while (true) {
    std::function<void()> connection;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&ready));
      if (waiting_.empty()) return;
      connection = std::move(waiting_.front());
      waiting_.pop_front();
    }
    connection();
  }
}

}  // namespace waymark
