// What the server measures of its own answers, and when an arm is so much worse than the control that it must
// not stay. The test is valid at every look, so it may be asked after each answer.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "experiment/statistics/effect.h"
#include "waymark/storage/experiments.pb.h"

namespace waymark {

struct ServedAnswer {
  absl::Duration latency;
  bool error = false, empty = false;
  double diversity = 0;
};
void AddAnswer(const ServedAnswer& answer, storage::ServedSums* sums);

struct GuardrailResult {
  storage::GuardrailRecord::Measure measure = storage::GuardrailRecord::MEASURE_UNSPECIFIED;
  int arm = 0;
  double control = 0, treatment = 0, tolerance = 0;
  // How much worse: latency relative to the control, the others absolute; above 0 is worse.
  statistics::TestResult worse_by;
  bool violated = false;
  std::string problem;  // why nothing can be said yet
};

// Fewer answers of either arm say nothing: the sequences are asymptotic.
inline constexpr double kFewestAnswers = 30;

// Violated: the confidence sequence (tuned to 200 answers) of «worse by» lies above the tolerance. A rate's
// variance is p (1 - p) with p = (x + 1) / (n + 2) (Agresti, Caffo 2000), so that 0 of n is not taken for
// certain.
GuardrailResult CheckGuardrail(const storage::GuardrailRecord& guardrail, int arm,
                               const storage::ServedSums& control, const storage::ServedSums& treatment,
                               double alpha);

// All guardrails for all treatments, with Bonferroni's correction: any of them rolls back.
std::vector<GuardrailResult> CheckGuardrails(const storage::ExperimentRecord& record,
                                             const storage::ServedSumsRecord& served);

std::string_view MeasureName(storage::GuardrailRecord::Measure measure);

}  // namespace waymark
