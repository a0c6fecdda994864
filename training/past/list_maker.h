// Ranking lists from past decisions: what the engine would have found at each, with features, and what was
// taken.
#pragma once
#include <functional>
#include <stop_token>
#include <vector>

#include "absl/status/status.h"
#include "training/past/decision.h"
#include "training/past/past_view.h"
#include "training/ranker/ranking_lists.h"

namespace waymark {

struct ListMakerOptions {
  bool as_known = true;  // leave out what was received after the decision
  int threads = 1;       // the lists and their order do not depend on it
};

// Appends a list for each decision whose target is among its candidates. CANCELLED when stopped; `progress`
// gets the decisions done.
absl::Status MakeRankingLists(const TrainingLog& log, Scope scope, const std::vector<Decision>& decisions,
                              const PastView& view, const storage::BlendingPlan& plan,
                              const ListMakerOptions& options,
                              const std::function<void(size_t done)>& progress, std::stop_token stop,
                              RankingLists* lists);

}  // namespace waymark
