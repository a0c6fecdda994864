#include "experiment/interleaving/interleaved_lists.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace waymark {
namespace {

constexpr int64_t kDayOfLists = int64_t{24} * 3600 * 1000 * 1000;

}  // namespace

void InterleavedLists::Add(const storage::ExposureRecord& list) {
  const std::string request = list.unit().size() < 2 ? std::string() : list.unit().substr(2);
  if (request.empty() || open_.contains(request)) return;
  const std::string& key = list.reader().empty() ? list.unit() : list.reader();
  const auto [row, added] = reader_rows_.try_emplace(key, static_cast<uint32_t>(erased_.size()));
  if (added) {
    erased_.push_back(false);
    clicks_.resize(clicks_.size() + arms_, 0);
    if (list.number() != 0) numbered_[list.number()].push_back(row->second);
  }
  shown_us_.push_back(list.time_us());
  List& open = open_[request];
  open.reader = row->second;
  open.shown_us = list.time_us();
  const auto places =
      std::min<size_t>({kMostPlaces, static_cast<size_t>(list.items_size()), list.teams().size()});
  open.items.assign(list.items().begin(), list.items().begin() + static_cast<int>(places));
  open.teams = list.teams().substr(0, places);
}

void InterleavedLists::Observe(const storage::EventRecord& event) {
  if (event.request_id().empty() || !credit_.Of(event)) return;
  const auto found = open_.find(event.request_id());
  if (found == open_.end()) return;
  List& list = found->second;
  const int64_t age = event.time_us() - list.shown_us;
  if (age < 0 || age >= window_us_) return;
  for (const storage::EventItem& item : event.items()) {
    const auto place = std::find(list.items.begin(), list.items.end(), item.item());
    if (place == list.items.end()) continue;
    const auto at = static_cast<size_t>(place - list.items.begin());
    if (list.clicked[at]) continue;
    list.clicked[at] = true;
    const size_t arm = RankingOf(static_cast<Team>(list.teams[at]));
    if (arm < arms_) ++clicks_[list.reader * arms_ + arm];
  }
}

void InterleavedLists::Prune(int64_t now_us) {
  absl::erase_if(
      open_, [&](const auto& entry) { return entry.second.shown_us + window_us_ + kDayOfLists < now_us; });
}

void InterleavedLists::Erase(UserNumber reader) {
  const auto found = numbered_.find(reader);
  if (found == numbered_.end()) return;
  for (const uint32_t row : found->second) EraseRow(row);
  numbered_.erase(found);
}

void InterleavedLists::Erase(const std::string& reader) {
  const auto found = reader_rows_.find(reader);
  if (found != reader_rows_.end()) EraseRow(found->second);
}

void InterleavedLists::EraseRow(uint32_t row) {
  erased_[row] = true;
  absl::erase_if(open_, [&](const auto& entry) { return entry.second.reader == row; });
  absl::erase_if(reader_rows_, [&](const auto& entry) { return entry.second == row; });
}

int64_t InterleavedLists::CountSince(int64_t from_us) const {
  return std::count_if(shown_us_.begin(), shown_us_.end(), [&](int64_t time) { return time >= from_us; });
}

int64_t InterleavedLists::DaysWithLists() const {
  absl::flat_hash_set<int64_t> days;
  for (const int64_t time : shown_us_) days.insert(time / kDayOfLists);
  return static_cast<int64_t>(days.size());
}

PreferenceResult InterleavedLists::Analyse(size_t arm,
                                           const statistics::ConfidenceSequenceOptions& options) const {
  Preference preference;
  for (size_t reader = 0; reader < erased_.size(); ++reader) {
    const uint32_t* clicks = &clicks_[reader * arms_];
    if (!erased_[reader]) preference.Add({static_cast<int>(clicks[0]), static_cast<int>(clicks[arm])});
  }
  return preference.Analyse(options);
}

}  // namespace waymark
