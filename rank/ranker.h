// Orders candidates. The attention ranker, a weighted sum for when no model is released, a shadow that ranks
// a copy.
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "candidates/candidate.h"
#include "candidates/deadline.h"
#include "candidates/request_context.h"

namespace waymark {

struct Contribution {
  std::string feature;
  float value = 0;         // as read
  float contribution = 0;  // what it adds to the score
};

struct RankerScores {
  // [candidates]; higher is better, finite.
  std::vector<float> engagement;
  // With `explain`: one list per candidate. Its contributions sum to engagement - baseline.
  std::vector<std::vector<Contribution>> explanations;
  // The score of a candidate that is average in everything.
  float baseline = 0;
};

// Thread-safe; one thread a call.
class Ranker {
 public:
  virtual ~Ranker() = default;
  virtual const std::string& version() const = 0;
  // Of the retriever whose signals it was trained on; empty: works with any.
  virtual const std::string& retriever_sha256() const = 0;
  // Whether lists with a query were among its training data.
  virtual bool knows_queries() const = 0;
  // Candidates carry all their signals. The result depends on the set of candidates (scores are normalised
  // within the list), not on their order. DEADLINE_EXCEEDED: not all candidates were scored in time (the
  // order of the merge stands then). INVALID_ARGUMENT: more than 2,000 candidates.
  virtual absl::StatusOr<RankerScores> Score(const RequestContext& context,
                                             absl::Span<const Candidate> candidates, bool explain,
                                             Deadline deadline) const = 0;
};

}  // namespace waymark
