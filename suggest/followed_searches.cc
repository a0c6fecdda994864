#include "suggest/followed_searches.h"

#include <algorithm>

#include "absl/hash/hash.h"

namespace waymark {

bool FollowedSearches::Served(std::string_view request_id, std::string_view query, UserNumber user) {
  const uint64_t request = absl::HashOf(request_id);
  if (served_.try_emplace(request, Search{std::string(query), user}).second) {
    served_order_.push_back(request);
    if (served_order_.size() > kMost) {
      served_.erase(served_order_.front());
      served_order_.pop_front();
    }
  }
  return waiting_.contains(request);
}

std::optional<FollowedSearches::Search> FollowedSearches::Followed(std::string_view request_id) {
  const uint64_t request = absl::HashOf(request_id);
  if (const auto found = served_.find(request); found != served_.end()) return found->second;
  if (waiting_.insert(request).second) {
    waiting_order_.push_back(request);
    if (waiting_order_.size() > kMost) {
      waiting_.erase(waiting_order_.front());
      waiting_order_.pop_front();
    }
  }
  return std::nullopt;
}

void FollowedSearches::Forget(absl::Span<const UserNumber> users) {
  if (users.empty()) return;
  const absl::flat_hash_set<UserNumber> gone(users.begin(), users.end());
  std::erase_if(served_order_, [&](uint64_t request) {
    const auto found = served_.find(request);
    if (!gone.contains(found->second.user)) return false;
    served_.erase(found);
    return true;
  });
}

}  // namespace waymark
