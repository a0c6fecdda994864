#include "experiment/decisions/guardrail.h"

#include "absl/strings/str_cat.h"
#include "experiment/statistics/confidence_sequence.h"

namespace waymark {
namespace {

using statistics::ArmEstimate;
using storage::GuardrailRecord;
using storage::ServedSums;

constexpr double kTuning = 200;

ArmEstimate RateOf(double n, double count) {
  const double smoothed = (count + 1) / (n + 2);
  return {n, count / n, smoothed * (1 - smoothed), count / n};
}

ArmEstimate EstimateOf(GuardrailRecord::Measure measure, const ServedSums& sums) {
  switch (measure) {
    case GuardrailRecord::LATENCY:
      return statistics::MeanOf({sums.answers(), sums.latency_sum(), sums.latency_squares()});
    case GuardrailRecord::ERROR_RATE:
      return RateOf(sums.answers(), sums.errors());
    case GuardrailRecord::EMPTY_RATE:
      return RateOf(sums.answers(), sums.empty());
    default:
      return statistics::MeanOf({sums.answers(), sums.diversity_sum(), sums.diversity_squares()});
  }
}

}  // namespace

std::string_view MeasureName(GuardrailRecord::Measure measure) {
  switch (measure) {
    case GuardrailRecord::LATENCY:
      return "latency";
    case GuardrailRecord::ERROR_RATE:
      return "error rate";
    case GuardrailRecord::EMPTY_RATE:
      return "empty results";
    case GuardrailRecord::DIVERSITY:
      return "diversity";
    default:
      return "none";
  }
}

void AddAnswer(const ServedAnswer& answer, ServedSums* sums) {
  const double latency = absl::ToDoubleMilliseconds(answer.latency);
  sums->set_answers(sums->answers() + 1);
  sums->set_latency_sum(sums->latency_sum() + latency);
  sums->set_latency_squares(sums->latency_squares() + latency * latency);
  sums->set_errors(sums->errors() + answer.error);
  sums->set_empty(sums->empty() + answer.empty);
  sums->set_diversity_sum(sums->diversity_sum() + answer.diversity);
  sums->set_diversity_squares(sums->diversity_squares() + answer.diversity * answer.diversity);
}

GuardrailResult CheckGuardrail(const GuardrailRecord& guardrail, int arm, const ServedSums& control,
                               const ServedSums& treatment, double alpha) {
  GuardrailResult result{.measure = guardrail.measure(), .arm = arm, .tolerance = guardrail.tolerance()};
  if (control.answers() < kFewestAnswers || treatment.answers() < kFewestAnswers) {
    result.problem = absl::StrCat("it takes ", kFewestAnswers, " answers of each arm; there are ",
                                  control.answers(), " and ", treatment.answers());
    return result;
  }
  const ArmEstimate a = EstimateOf(result.measure, control), b = EstimateOf(result.measure, treatment);
  result.control = a.mean;
  result.treatment = b.mean;
  const bool relative = result.measure == GuardrailRecord::LATENCY;
  auto effect =
      statistics::EffectOf(a, b, relative ? statistics::Scale::kRelative : statistics::Scale::kAbsolute);
  if (!effect.ok()) {
    result.problem = std::string(effect.status().message());
    return result;
  }
  if (result.measure == GuardrailRecord::DIVERSITY) effect->estimate = -effect->estimate;
  result.worse_by = statistics::ConfidenceSequence(*effect, {.alpha = alpha, .tuning = kTuning});
  result.violated = result.worse_by.low > result.tolerance;
  return result;
}

std::vector<GuardrailResult> CheckGuardrails(const storage::ExperimentRecord& record,
                                             const storage::ServedSumsRecord& served) {
  std::vector<GuardrailResult> results;
  if (served.arms_size() < record.arms_size()) return results;
  const double tests = record.guardrails_size() * (record.arms_size() - 1);
  for (const GuardrailRecord& guardrail : record.guardrails()) {
    for (int arm = 1; arm < record.arms_size(); ++arm) {
      results.push_back(
          CheckGuardrail(guardrail, arm, served.arms(0), served.arms(arm), record.alpha() / tests));
    }
  }
  return results;
}

}  // namespace waymark
