#include "recommend/recent_histories.h"

#include <algorithm>

namespace waymark {
namespace {

// Enough for an event that comes in order; then all that is kept of one user.
constexpr size_t kFewLines = 32;
constexpr size_t kMostLines = 4096;

}  // namespace

void RecentHistories::Load(UserNumber user, const HistoryLine& before, const EventTypes& types, size_t limit,
                           Kept* kept) {
  const std::vector<HistoryEvent> events = store_->ReadHistory(scope_, user, {.limit = limit});
  lines_ -= kept->lines.size();
  kept->lines.clear();
  kept->complete = events.size() < limit;
  for (const HistoryEvent& event : events) {  // newest first
    // What the log tells later is not known yet.
    if (event.offset >= before.offset) continue;
    const EventType* type = types.Find(event.type);
    if (type == nullptr || type->sign != EventSign::kPositive) continue;
    // Items of one event come with falling index; what counts is their order.
    kept->lines.push_back({absl::ToUnixMicros(event.time), event.offset, 0, event.item});
  }
  std::reverse(kept->lines.begin(), kept->lines.end());
  for (size_t i = 1; i < kept->lines.size(); ++i) {
    if (kept->lines[i].offset == kept->lines[i - 1].offset)
      kept->lines[i].index = kept->lines[i - 1].index + 1;
  }
  lines_ += kept->lines.size();
}

HistoryPlaceOf RecentHistories::Insert(UserNumber user, const HistoryLine& line, const EventTypes& types) {
  auto [at, fresh] = users_.try_emplace(user);
  Kept& kept = at->second;
  if (fresh) {
    recency_.push_front(user);
    kept.recency = recency_.begin();
    Load(user, line, types, kFewLines, &kept);
  } else {
    recency_.splice(recency_.begin(), recency_, kept.recency);
  }
  auto place = std::upper_bound(kept.lines.begin(), kept.lines.end(), line);
  if (!kept.complete && static_cast<size_t>(place - kept.lines.begin()) < window_) {
    // Lines of this event that are in already have its offset: load up to and with them.
    const std::vector<HistoryLine> now = kept.lines;
    Load(user, line, types, kMostLines, &kept);
    for (const HistoryLine& l : now) {
      if (l.offset == line.offset) {
        kept.lines.insert(std::upper_bound(kept.lines.begin(), kept.lines.end(), l), l);
        ++lines_;
      }
    }
    place = std::upper_bound(kept.lines.begin(), kept.lines.end(), line);
  }
  HistoryPlaceOf neighbours;
  neighbours.known = kept.complete || place != kept.lines.begin();
  const size_t behind = static_cast<size_t>(place - kept.lines.begin());
  if (neighbours.known) {
    for (size_t i = behind - std::min(behind, window_); i < behind; ++i)
      neighbours.before.push_back(kept.lines[i].item);
    for (size_t i = behind; i < std::min(kept.lines.size(), behind + window_); ++i)
      neighbours.after.push_back(kept.lines[i].item);
    kept.lines.insert(place, line);
    ++lines_;
  }
  if (kept.lines.size() > kMostLines) {
    kept.lines.erase(kept.lines.begin(), kept.lines.begin() + kMostLines / 4);
    kept.complete = false;
    lines_ -= kMostLines / 4;
  }
  MakeRoom(user);
  return neighbours;
}

void RecentHistories::Forget(UserNumber user) {
  auto at = users_.find(user);
  if (at == users_.end()) return;
  lines_ -= at->second.lines.size();
  recency_.erase(at->second.recency);
  users_.erase(at);
}

void RecentHistories::MakeRoom(UserNumber keep) {
  while (lines_ > limit_ && recency_.back() != keep) Forget(recency_.back());
}

}  // namespace waymark
