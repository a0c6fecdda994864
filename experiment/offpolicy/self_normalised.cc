#include "experiment/offpolicy/self_normalised.h"

namespace waymark {

absl::StatusOr<OffPolicyEstimate> SelfNormalised(absl::Span<const LoggedDecision> log,
                                                 const OffPolicyOptions& options) {
  auto weights = ImportanceWeights(log, options);
  if (!weights.ok()) return weights.status();
  double sum = 0, weighted = 0;
  for (size_t i = 0; i < log.size(); ++i) {
    sum += (*weights)[i];
    weighted += (*weights)[i] * log[i].reward;
  }
  if (sum == 0) {
    return absl::FailedPreconditionError(
        "the new policy would have chosen nothing of what was logged: this log says nothing of it");
  }
  const double value = weighted / sum, mean = sum / static_cast<double>(log.size());
  std::vector<double> contributions(log.size());
  for (size_t i = 0; i < log.size(); ++i) {
    contributions[i] = value + (*weights)[i] * (log[i].reward - value) / mean;
  }
  return Summarise(contributions, *weights, options);
}

}  // namespace waymark
