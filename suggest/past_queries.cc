#include "suggest/past_queries.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "suggest/complete.h"

namespace waymark {
namespace {

constexpr absl::Duration kRetention = absl::Hours(24 * 180);
constexpr size_t kErasedKept = 100'000;

}  // namespace

void PastQueries::Put(Entry* entry, Asked asked) {
  for (Asked& known : entry->users) {
    if (known.user != asked.user) continue;
    changed_ = changed_ || asked.time_us > known.time_us;
    known.time_us = std::max(known.time_us, asked.time_us);
    known.followed |= asked.followed;
    return;
  }
  changed_ = true;
  if (entry->users.size() < kMaxPastQueryUsers) {
    entry->users.push_back(asked);
    ++pairs_;
    return;
  }
  const auto oldest = std::min_element(entry->users.begin(), entry->users.end(),
                                       [](const Asked& a, const Asked& b) { return a.time_us < b.time_us; });
  if (oldest->time_us < asked.time_us) *oldest = asked;
}

void PastQueries::Add(std::string_view query, UserNumber user, absl::Time time) {
  if (user == 0 || query.size() > kMaxPastQueryBytes || erased_.contains(user)) return;
  std::string words = TypedOf(query).words;
  if (words.empty() || words.size() > kMaxPastQueryBytes) return;
  const int64_t time_us = absl::ToUnixMicros(time);
  newest_us_ = std::max(newest_us_, time_us);
  Put(&entries_[std::move(words)], {user, time_us});
  if (entries_.size() > options_.max_queries || pairs_ > options_.max_pairs) Trim();
  Counted();
}

void PastQueries::Follow(std::string_view query, UserNumber user) {
  const auto found = entries_.find(TypedOf(query).words);
  if (found == entries_.end()) return;
  for (Asked& asked : found->second.users) {
    if (asked.user != user || asked.followed != 0) continue;
    asked.followed = 1;
    changed_ = true;
  }
}

double PastQueries::Weight(const Entry& entry, int64_t now_us) const {
  const double half_life_us = static_cast<double>(absl::ToInt64Microseconds(options_.half_life));
  double sum = 0, oldest = 0;
  for (const Asked& asked : entry.users) {
    const double age = static_cast<double>(std::max<int64_t>(0, now_us - asked.time_us)) / half_life_us;
    sum += (asked.followed != 0 ? 1 + options_.follow_weight : 1) * std::exp2(-age);
    oldest = std::max(oldest, age);
  }
  if (entry.users.size() < kMaxPastQueryUsers) return sum;
  // All at one moment: nothing is known of a stream.
  constexpr double kLeastShare = 1e-3;
  return sum / std::max(kLeastShare, 1 - std::exp2(-oldest));
}

void PastQueries::Trim() {
  std::vector<std::pair<double, std::string_view>> weights;
  weights.reserve(entries_.size());
  for (const auto& [query, entry] : entries_) weights.emplace_back(Weight(entry, newest_us_), query);
  const size_t dropped = std::max<size_t>(1, weights.size() / 10);
  std::nth_element(weights.begin(), weights.begin() + static_cast<ptrdiff_t>(dropped), weights.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < dropped; ++i) names.emplace_back(weights[i].second);
  for (const std::string& name : names) {
    const auto found = entries_.find(name);
    pairs_ -= found->second.users.size();
    entries_.erase(found);
  }
  changed_ = true;
}

void PastQueries::Forget(absl::Span<const UserNumber> users) {
  if (users.empty()) return;
  if (erased_.size() > kErasedKept) erased_.clear();
  erased_.insert(users.begin(), users.end());
  const absl::flat_hash_set<UserNumber> gone(users.begin(), users.end());
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    std::vector<Asked>& asked = entry->second.users;
    const size_t before = asked.size();
    std::erase_if(asked, [&](const Asked& a) { return gone.contains(a.user); });
    pairs_ -= before - asked.size();
    changed_ = changed_ || before != asked.size();
    if (asked.empty()) {
      entries_.erase(entry++);
    } else {
      ++entry;
    }
  }
  Counted();
}

void PastQueries::Clear() {
  entries_.clear();
  pairs_ = 0;
  newest_us_ = 0;
  changed_ = true;
  Counted();
}

void PastQueries::Join(const absl::flat_hash_map<UserNumber, UserNumber>& user_of_visitor) {
  if (user_of_visitor.empty()) return;
  for (auto& [query, entry] : entries_) {
    const bool any = std::any_of(entry.users.begin(), entry.users.end(),
                                 [&](const Asked& a) { return user_of_visitor.contains(a.user); });
    if (!any) continue;
    std::vector<Asked> before;
    before.swap(entry.users);
    pairs_ -= before.size();
    for (Asked asked : before) {
      if (auto user = user_of_visitor.find(asked.user); user != user_of_visitor.end())
        asked.user = user->second;
      Put(&entry, asked);
    }
    changed_ = true;
  }
}

std::vector<std::string> PastQueries::Unchecked(absl::Time not_before, size_t limit) const {
  const int64_t before_us = absl::ToUnixMicros(not_before);
  std::vector<std::tuple<bool, int64_t, std::string>> due;
  for (const auto& [query, entry] : entries_) {
    if (entry.users.size() < options_.min_users) continue;
    if (entry.finds != Finds::kUnknown && entry.checked_us >= before_us) continue;
    due.emplace_back(entry.finds != Finds::kUnknown, entry.checked_us, query);
  }
  if (due.size() > limit) {
    std::nth_element(due.begin(), due.begin() + static_cast<ptrdiff_t>(limit), due.end());
    due.resize(limit);
  }
  std::vector<std::string> queries;
  for (auto& [known, checked, query] : due) queries.push_back(std::move(query));
  return queries;
}

void PastQueries::SetFinds(const std::string& query, bool finds, absl::Time checked) {
  const auto found = entries_.find(query);
  if (found == entries_.end()) return;
  const Finds now = finds ? Finds::kYes : Finds::kNo;
  changed_ = changed_ || found->second.finds != now;
  found->second.finds = now;
  found->second.checked_us = absl::ToUnixMicros(checked);
}

std::vector<PastQuery> PastQueries::Shown(absl::Time now) {
  const int64_t now_us = absl::ToUnixMicros(now), kept_us = absl::ToUnixMicros(now - kRetention);
  std::vector<PastQuery> shown;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    std::vector<Asked>& asked = entry->second.users;
    pairs_ -= std::erase_if(asked, [&](const Asked& a) { return a.time_us < kept_us; });
    if (asked.empty()) {
      entries_.erase(entry++);
      continue;
    }
    if (asked.size() >= options_.min_users && entry->second.finds == Finds::kYes) {
      shown.push_back({entry->first, Weight(entry->second, now_us), asked.size()});
    }
    ++entry;
  }
  Counted();
  return shown;
}

}  // namespace waymark
