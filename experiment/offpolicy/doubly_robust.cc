#include "experiment/offpolicy/doubly_robust.h"

namespace waymark {

absl::StatusOr<OffPolicyEstimate> DoublyRobust(absl::Span<const LoggedDecision> log,
                                               const OffPolicyOptions& options) {
  auto weights = ImportanceWeights(log, options);
  if (!weights.ok()) return weights.status();
  std::vector<double> contributions(log.size());
  for (size_t i = 0; i < log.size(); ++i) {
    contributions[i] = log[i].predicted_under_target + (*weights)[i] * (log[i].reward - log[i].predicted);
  }
  return Summarise(contributions, *weights, options);
}

}  // namespace waymark
