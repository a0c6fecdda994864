// Two releases on one list.
#include <utility>

#include "pipeline/pipeline_call_impl.h"

namespace waymark {

bool Pipeline::Call::FreelyRanked() const {
  return !Sorted() && !Grouped() && list_.pinned.empty() && strict_items_ >= list_.items.size();
}

void Pipeline::Call::InterleaveWithRival() {
  if (!FreelyRanked()) return;
  const absl::Time start = absl::Now();
  Call rival(pipeline_, *rival_, nullptr, request_, deadline_);
  absl::Status status = rival.MakeContext();
  if (status.ok()) status = rival.MakeList();
  if (!status.ok()) {
    response_.degraded.push_back({"interleave", std::string(status.message())});
    return;
  }
  if (!rival.FreelyRanked()) return;
  PageList made = list_;
  made.items.clear();
  made.scores.clear();
  std::vector<RankedCandidate> details;
  for (const InterleavedPlace& from : request_.interleave(list_.items, rival.list_.items)) {
    Call& call = from.list == 0 ? *this : rival;
    made.items.push_back(call.list_.items[from.place]);
    made.scores.push_back(call.list_.scores[from.place]);
    details.push_back(call.details_[from.place]);
    response_.teams.push_back(static_cast<char>(1 + from.list));
  }
  list_ = std::move(made);
  details_ = std::move(details);
  strict_items_ = list_.items.size();
  response_.interleaved_items = list_.items;
  Lap("interleave", start);
}

}  // namespace waymark
