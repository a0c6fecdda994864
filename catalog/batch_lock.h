// Many readers beside one writer that changes little at a time. Unlike a bare std::shared_mutex, which lets
// readers that overlap keep a writer out for ever, a waiting writer goes first.
//
//   BatchLock::Reading reading(lock);   // shared
//   BatchLock::Writing writing(lock);   // alone
#pragma once
#include <atomic>
#include <mutex>
#include <shared_mutex>

namespace waymark {

class BatchLock {
 public:
  class Reading {
   public:
    explicit Reading(BatchLock& lock) : lock_(lock) {
      // Waits behind a writer that waits; the writer gives the gate back once it has the lock.
      if (lock_.waiting_.load(std::memory_order_relaxed)) std::lock_guard gate(lock_.gate_);
      lock_.mutex_.lock_shared();
    }
    ~Reading() { lock_.mutex_.unlock_shared(); }
    Reading(const Reading&) = delete;

   private:
    BatchLock& lock_;
  };

  class Writing {
   public:
    explicit Writing(BatchLock& lock) : lock_(lock) {
      std::lock_guard gate(lock_.gate_);
      lock_.waiting_.store(true, std::memory_order_relaxed);
      lock_.mutex_.lock();
      lock_.waiting_.store(false, std::memory_order_relaxed);
    }
    ~Writing() { lock_.mutex_.unlock(); }
    Writing(const Writing&) = delete;

   private:
    BatchLock& lock_;
  };

 private:
  std::mutex gate_;
  std::atomic<bool> waiting_{false};
  std::shared_mutex mutex_;
};

}  // namespace waymark
