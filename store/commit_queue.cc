#include "store/commit_queue.h"

namespace waymark {

void CommitQueue::Submit(Entry& entry) {
  std::unique_lock<std::mutex> lock(mutex_);
  room_.wait(lock, [&] { return queued_bytes_ == 0 || queued_bytes_ + entry.bytes <= limits_.queued_bytes; });
  queue_.push_back(&entry);
  queued_bytes_ += entry.bytes;
  entry.turn_.wait(lock, [&] { return entry.done_ || (!leading_ && queue_.front() == &entry); });
  if (entry.done_) return;

  leading_ = true;
  const std::vector<Entry*> group = TakeGroup();
  lock.unlock();
  commit_(group);
  lock.lock();
  leading_ = false;
  for (Entry* member : group) {
    queued_bytes_ -= member->bytes;
    member->done_ = true;
    // Under the lock: a released writer destroys its entry.
    if (member != &entry) member->turn_.notify_one();
  }
  room_.notify_all();
  if (!queue_.empty()) queue_.front()->turn_.notify_one();
}

std::vector<CommitQueue::Entry*> CommitQueue::TakeGroup() {
  std::vector<Entry*> group;
  size_t bytes = 0;
  while (!queue_.empty() && (group.empty() || bytes + queue_.front()->bytes <= limits_.group_bytes)) {
    bytes += queue_.front()->bytes;
    group.push_back(queue_.front());
    queue_.pop_front();
  }
  return group;
}

}  // namespace waymark
