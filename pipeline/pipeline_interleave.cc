// Several releases on one list.
#include <memory>
#include <utility>

#include "pipeline/pipeline_call_impl.h"

namespace waymark {

bool Pipeline::Call::FreelyRanked() const {
  return !Sorted() && !Grouped() && list_.pinned.empty() && strict_items_ >= list_.items.size();
}

void Pipeline::Call::InterleaveWithRivals() {
  if (!FreelyRanked()) return;
  const absl::Time start = absl::Now();
  std::vector<std::unique_ptr<Call>> rivals;
  std::vector<Call*> calls = {this};
  for (const LoadedRelease* release : rivals_) {
    rivals.push_back(std::make_unique<Call>(pipeline_, *release, std::vector<const LoadedRelease*>(),
                                            request_, deadline_));
    Call& rival = *rivals.back();
    absl::Status status = rival.MakeContext();
    if (status.ok()) status = rival.MakeList();
    if (!status.ok()) {
      response_.degraded.push_back({"interleave", std::string(status.message())});
      return;
    }
    if (!rival.FreelyRanked()) return;
    calls.push_back(&rival);
  }
  PageList made = list_;
  made.items.clear();
  made.scores.clear();
  std::vector<RankedCandidate> details;
  std::vector<std::vector<ItemOrdinal>> lists;
  for (const Call* call : calls) lists.push_back(call->list_.items);
  for (const InterleavedPlace& from : request_.interleave(lists)) {
    Call& call = *calls[static_cast<size_t>(from.list)];
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
