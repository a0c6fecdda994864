// What an experiment has shown so far: a function of its record, its units' outcomes and what the server
// measured.
//
//   ExperimentReport report = MakeReport({.record = &record, .outcomes = &outcomes, .served = &sums, .now =
//   now}); std::cout << ReportText(report);
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "experiment/decisions/conditions.h"
#include "experiment/outcomes/outcomes.h"
#include "experiment/shadow/agreement.h"
#include "experiment/statistics/bayes.h"
#include "experiment/statistics/effect.h"

namespace waymark {

struct ReportInput {
  const storage::ExperimentRecord* record = nullptr;
  const Outcomes* outcomes = nullptr;
  const storage::ServedSumsRecord* served = nullptr;  // null: nothing measured
  absl::Span<const ShadowSums> shadow;                // [arm]; empty: none
  int64_t conflicts = 0;
  absl::Time now;
};

// One metric, one treatment against the control, one segment (or all).
struct Comparison {
  std::string metric, arm, segment;
  bool primary = false, lower_is_better = false;
  double control_units = 0, treatment_units = 0, control_mean = 0, treatment_mean = 0;
  statistics::TestResult absolute;                 // confidence sequences: valid at every look
  std::optional<statistics::TestResult> relative;  // none: the control's mean is not above 0
  statistics::TestResult fixed_horizon;  // Welch, absolute: valid at one look that was fixed beforehand
  statistics::BayesResult bayes;         // absolute, flat prior
  // Of the sequence's p-value: Holm over the arms of the primary metric, Benjamini-Hochberg over the others,
  // and over segments.
  double adjusted_p = 1;
  double variance_reduction = 0;         // by CUPED, in [0, 1)
  double minimal_detectable_effect = 0;  // absolute, at power .8 and the units there are
  std::string problem;
};

struct DayEffect {
  int day = 0;
  std::string arm;
  statistics::TestResult absolute;
};

// An arm that scores copies of requests without answering them.
struct ShadowResult {
  std::string arm;
  double copies = 0, skipped = 0;
  double overlap = 0, rank_correlation = 0;  // means
  double latency_ms = 0, served_latency_ms = 0;
  double error_rate = 0, empty_rate = 0;
};

enum class Verdict { kTooFewUnits, kBlocked, kRolledBack, kGoOn, kWinner, kNoBetterArm };
std::string_view VerdictName(Verdict verdict);

struct ExperimentReport {
  storage::ExperimentRecord record;
  absl::Time time;
  Evidence evidence;
  int64_t conflicts = 0;
  std::vector<Comparison> comparisons, segments;
  std::vector<DayEffect> days;
  std::vector<ShadowResult> shadow;  // empty: it was not in the shadow
  Verdict verdict = Verdict::kGoOn;
  std::vector<std::string> warnings, interference;
};

ExperimentReport MakeReport(const ReportInput& input);
// The part that decisions rest on: units, sample ratio, guardrails, the winner by the primary metric.
Evidence GatherEvidence(const ReportInput& input);

// Readable text.
std::string ReportText(const ExperimentReport& report);

}  // namespace waymark
