// What words of queries were found to stand for, so that the stages of a request, and other requests with the
// same word, do not look again. Belongs to one snapshot. Bounded: a full cache is emptied.
//
// Thread-safe.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace waymark {

struct WordVariants;

class VariantCache {
 public:
  static constexpr size_t kMaxWords = 4096;

  // Null: not there.
  std::shared_ptr<const WordVariants> Find(const std::string& key) const {
    std::lock_guard lock(mutex_);
    const auto found = words_.find(key);
    return found == words_.end() ? nullptr : found->second;
  }
  void Keep(const std::string& key, std::shared_ptr<const WordVariants> variants) {
    std::lock_guard lock(mutex_);
    if (words_.size() >= kMaxWords) words_.clear();
    words_.insert_or_assign(key, std::move(variants));
  }

 private:
  mutable std::mutex mutex_;  // held for a look-up only
  std::unordered_map<std::string, std::shared_ptr<const WordVariants>> words_;
};

}  // namespace waymark
