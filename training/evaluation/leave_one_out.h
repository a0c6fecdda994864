// Leave-one-out: of each user's history, oldest first by (time, row), the last item is the test item and the
// one before it the validation item. The whole catalogue is ranked; ties get the middle rank.
//
// Strict protocol: models are made from interactions.WithoutLast(2), the test's input history includes the
// validation item, and choices are made on validation. Other users' later events are in the counts: that is
// what leave-one-out means.
//
//   BehaviourCounts counts({});
//   counts.AddAll(interactions.WithoutLast(2));
//   auto result = LeaveOneOut(interactions, {}, ScorerOf(*source));
#pragma once
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "candidates/candidate_source.h"
#include "recommend/interactions.h"
#include "training/evaluation/recommend_metrics.h"

namespace waymark {

// Scores each item below scores.size() for a request; higher is better. Items that are left as they came, at
// lowest float, are tied behind all others.
using CatalogueScorer = std::function<absl::Status(const RequestContext& context, absl::Span<float> scores)>;

// What a source lists, by its score; everything else tied behind it. `limit` 0: the whole catalogue.
CatalogueScorer ScorerOf(const CandidateSource& source, size_t limit = 0);

struct LeaveOneOutOptions {
  enum class Target { kTest, kValidation } target = Target::kTest;
  size_t k = 10;
  // Items of the history are left out of the ranking. A held-out item that is in the history is then a miss.
  bool mask_history = true;
  // Newest events of the history that the context holds, as in serving.
  size_t history_limit = 200;
  // Called now and then with the users done; false stops with CANCELLED.
  std::function<bool(size_t done, size_t all)> progress;
};

struct LeaveOneOutResult {
  RecommendMetrics metrics;
  // For paired comparisons of two results: the users and the ranks of their held-out items, in order.
  std::vector<UserNumber> users;
  std::vector<double> ranks;
};

// Users with fewer than three events have no training item and are left out. The catalogue is every item that
// occurs in `interactions`.
absl::StatusOr<LeaveOneOutResult> LeaveOneOut(const Interactions& interactions,
                                              const LeaveOneOutOptions& options,
                                              const CatalogueScorer& scorer);

}  // namespace waymark
