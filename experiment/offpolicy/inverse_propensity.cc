#include "experiment/offpolicy/inverse_propensity.h"

namespace waymark {

absl::StatusOr<OffPolicyEstimate> InversePropensity(absl::Span<const LoggedDecision> log,
                                                    const OffPolicyOptions& options) {
  auto weights = ImportanceWeights(log, options);
  if (!weights.ok()) return weights.status();
  std::vector<double> contributions(log.size());
  for (size_t i = 0; i < log.size(); ++i) contributions[i] = (*weights)[i] * log[i].reward;
  return Summarise(contributions, *weights, options);
}

}  // namespace waymark
