#include "experiment/offpolicy/logged_decision.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "experiment/statistics/distributions.h"
#include "experiment/statistics/moments.h"

namespace waymark {
namespace {

constexpr double kFewEffective = 100;
constexpr double kSmallShare = 0.01;
constexpr double kLargeWeight = 0.1;
constexpr double kOddDeviations = 3;

void AddWarnings(const statistics::Moments& weights, OffPolicyEstimate* estimate) {
  if (estimate->effective_sample_size < std::max(kFewEffective, kSmallShare * weights.n)) {
    estimate->warnings.push_back(absl::StrFormat(
        "effective sample size %.0f of %.0f decisions: the policies differ too much for this log",
        estimate->effective_sample_size, weights.n));
  }
  if (estimate->largest_share > kLargeWeight) {
    estimate->warnings.push_back(absl::StrFormat("one decision carries %.0f%% of all weight: cap the weights",
                                                 100 * estimate->largest_share));
  }
  const double error = std::sqrt(weights.Variance() / weights.n);
  if (std::abs(weights.Mean() - 1) > kOddDeviations * error + 1e-9) {
    estimate->warnings.push_back(absl::StrFormat(
        "weights are %.3f on average where 1 is expected: logged propensities are wrong, or the new policy "
        "chooses what the old one never did",
        weights.Mean()));
  }
}

}  // namespace

absl::StatusOr<std::vector<double>> ImportanceWeights(absl::Span<const LoggedDecision> log,
                                                      const OffPolicyOptions& options) {
  if (log.size() < 2)
    return absl::InvalidArgumentError("an off-policy estimate takes at least two decisions");
  std::vector<double> weights;
  weights.reserve(log.size());
  for (size_t i = 0; i < log.size(); ++i) {
    if (!(log[i].logged_propensity > 0 && log[i].logged_propensity <= 1)) {
      return absl::InvalidArgumentError(absl::StrCat("decision ", i, ": logged_propensity is ",
                                                     log[i].logged_propensity, "; it lies in (0, 1]"));
    }
    if (!(log[i].target_propensity >= 0 && log[i].target_propensity <= 1)) {
      return absl::InvalidArgumentError(absl::StrCat("decision ", i, ": target_propensity is ",
                                                     log[i].target_propensity, "; it lies in [0, 1]"));
    }
    const double weight = log[i].target_propensity / log[i].logged_propensity;
    weights.push_back(options.weight_cap > 0 ? std::min(weight, options.weight_cap) : weight);
  }
  return weights;
}

OffPolicyEstimate Summarise(absl::Span<const double> contributions, absl::Span<const double> weights,
                            const OffPolicyOptions& options) {
  statistics::Moments value, weight;
  double largest = 0;
  for (size_t i = 0; i < contributions.size(); ++i) {
    value.Add(contributions[i]);
    weight.Add(weights[i]);
    largest = std::max(largest, weights[i]);
  }
  OffPolicyEstimate estimate{.value = value.Mean(), .standard_error = std::sqrt(value.Variance() / value.n)};
  const double half = statistics::NormalQuantile(1 - options.alpha / 2) * estimate.standard_error;
  estimate.low = estimate.value - half;
  estimate.high = estimate.value + half;
  estimate.mean_weight = weight.Mean();
  if (weight.sum > 0) {
    estimate.effective_sample_size = weight.sum * weight.sum / weight.sum_squares;
    estimate.largest_share = largest / weight.sum;
  }
  AddWarnings(weight, &estimate);
  return estimate;
}

}  // namespace waymark
