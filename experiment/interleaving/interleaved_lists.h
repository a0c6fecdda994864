// The interleaved lists of one experiment, whose clicks they got, and what readers prefer.
//
//   InterleavedLists lists(clicks, kWeek, 2);
//   lists.Add(exposure);               // a list: its reader, items and teams
//   lists.Observe(event);              // a click names the request that made the list
//   lists.Analyse(1, {});              // the second arm against the first
//
// A reader counts once, by all that they clicked: lists of one reader are not independent. Not thread-safe.
#pragma once
#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "experiment/interleaving/preference.h"
#include "experiment/outcomes/metric_plan.h"
#include "store/ids.h"
#include "waymark/storage/experiments.pb.h"

namespace waymark {

class InterleavedLists {
 public:
  // The first places of a list that are kept; clicks further down give no credit.
  static constexpr size_t kMostPlaces = 100;

  // `credit`: the events that say what a reader likes. Those count that happen within `window_us` of the
  // list.
  InterleavedLists(EventSource credit, int64_t window_us, size_t arms)
      : credit_(std::move(credit)), window_us_(window_us), arms_(arms) {}

  // A list that is there already changes nothing.
  void Add(const storage::ExposureRecord& list);
  void Observe(const storage::EventRecord& event);
  // Forgets the items of lists whose window is over, and a day more for events that come late.
  void Prune(int64_t now_us);
  // The reader's credit counts no longer.
  void Erase(UserNumber reader);
  void Erase(const std::string& reader);  // by key

  int64_t lists() const { return static_cast<int64_t>(shown_us_.size()); }
  int64_t readers() const { return static_cast<int64_t>(erased_.size()); }
  int64_t CountSince(int64_t from_us) const;
  int64_t DaysWithLists() const;
  // Of the arm (B) against the first (A): a reader prefers the one whose items got more of their clicks.
  PreferenceResult Analyse(size_t arm, const statistics::ConfidenceSequenceOptions& options) const;

 private:
  void EraseRow(uint32_t row);
  struct List {
    uint32_t reader = 0;
    int64_t shown_us = 0;
    std::vector<ItemOrdinal> items;
    std::string teams;
    std::bitset<kMostPlaces> clicked;
  };

  const EventSource credit_;
  const int64_t window_us_;
  const size_t arms_;
  std::vector<uint32_t> clicks_;   // [reader, arm]
  std::vector<bool> erased_;       // [reader]
  std::vector<int64_t> shown_us_;  // of each list
  absl::flat_hash_map<std::string, uint32_t> reader_rows_;
  absl::flat_hash_map<UserNumber, std::vector<uint32_t>> numbered_;  // readers by user or visitor
  absl::flat_hash_map<std::string, List> open_;                      // by request
};

}  // namespace waymark
