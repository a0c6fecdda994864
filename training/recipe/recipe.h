// What is trained on what: which events a retriever may see, which decisions teach the ranker, and through
// which past view they are looked at. A ranker's features must come from counts and a retriever that have not
// seen its targets (docs/ranking.md), so there are two retrievers: one that makes the lists, and one that
// serves.
#pragma once
#include <vector>

#include "absl/status/statusor.h"
#include "training/past/arm_filter.h"
#include "training/past/decision.h"
#include "training/past/training_log.h"

namespace waymark {

struct RetrieverData {
  Cut cut;
  size_t held_out =
      1;  // newest events of each user within the cut that only choose the epoch; 0: epochs as the first
};

struct ListPlan {
  Cut view;  // what counts (and the retriever that goes with them) have seen
  std::vector<Decision> decisions;
  bool with_final = false;  // looked at through the final retriever, else through the first
};

struct Recipe {
  RetrieverData first, final;
  ListPlan train, validation;
  bool as_known = true;
};

struct RecipeOptions {
  double ranker_share = 0.15;      // newest share of the log whose decisions teach the ranker
  double validation_share = 0.05;  // newest share of the log that it is validated on
  size_t max_lists = 20000;
  const ArmFilter* arms = nullptr;  // which decisions the ranker learns from and is validated on; null: all
};

// For serving: the log is cut by the time of receipt. A log that has no order of time between users (all its
// events near one moment) is cut by the newest two events of each user instead. FAILED_PRECONDITION: too few
// decisions to learn from, with the counts.
absl::StatusOr<Recipe> ServingRecipe(const TrainingLog& log, const RecipeOptions& options);

// For the strict leave-one-out protocol: lists with the third newest event as target teach the ranker, the
// second newest validates, the newest is left for the test.
Recipe LeaveOneOutRecipe(const TrainingLog& log, const RecipeOptions& options);

}  // namespace waymark
