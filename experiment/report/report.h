// What an experiment has shown so far: a function of its record, its units' outcomes and what the server
// measured.
//
//   ExperimentReport report =
//       MakeReport({.record = &record, .outcomes = &outcomes, .served = &sums, .now = now});
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "experiment/decisions/conditions.h"
#include "experiment/interleaving/interleaved_lists.h"
#include "experiment/outcomes/outcomes.h"
#include "experiment/shadow/agreement.h"
#include "experiment/statistics/bayes.h"
#include "experiment/statistics/effect.h"

namespace waymark {

struct ReportInput {
  const storage::ExperimentRecord* record = nullptr;
  const Outcomes* outcomes = nullptr;
  const InterleavedLists* lists = nullptr;            // of an interleaved experiment
  const storage::ServedSumsRecord* served = nullptr;  // null: nothing measured
  absl::Span<const ShadowSums> shadow;                // [arm]; empty: none
  std::vector<double> shares;                         // [arm], of a bandit; empty: its weights
  const storage::LooksRecord* looks = nullptr;        // null: none
  int64_t conflicts = 0;
  absl::Time now;
  int64_t exposed_until_us = OutcomeTable::kAlways;  // of a split: those who came later are in no comparison
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

// An arm of a bandit.
struct BanditResult {
  std::string arm;
  double share = 0;                    // now
  double units = 0, successes = 0;     // of units whose window is over
  double mean = 0, low = 0, high = 0;  // by inverse propensity; valid at every look
};

// Whether readers of interleaved lists prefer a treatment or the control.
struct InterleavingResult {
  std::string arm;
  int64_t lists = 0;
  PreferenceResult preference;  // of readers; A is the control
};

// A planned look at one treatment.
struct PlannedLookResult {
  absl::Time time;
  std::string arm;
  int64_t units = 0;  // of all arms
  double share = 0;   // of the units that are planned
  double estimate = 0, standard_error = 0, p_value = 1;
  double boundary_p = 0;     // what p_value has to be under
  double low = 0, high = 0;  // what the boundary leaves
  bool crossed = false;
};

enum class Verdict { kTooFewUnits, kBlocked, kRolledBack, kGoOn, kWinner, kNoBetterArm, kNotToldApart };
std::string_view VerdictName(Verdict verdict);

struct ExperimentReport {
  storage::ExperimentRecord record;
  absl::Time time;
  Evidence evidence;
  int64_t conflicts = 0;
  std::vector<Comparison> comparisons, segments;
  std::vector<DayEffect> days;
  std::vector<ShadowResult> shadow;  // empty: it was not in the shadow
  storage::LooksRecord looks;
  std::vector<PlannedLookResult> planned_looks;
  std::vector<BanditResult> bandit;
  std::vector<InterleavingResult> interleaving;  // of each treatment
  Verdict verdict = Verdict::kGoOn;
  std::vector<std::string> warnings, interference;
};

ExperimentReport MakeReport(const ReportInput& input);
// The part that decisions rest on: units, sample ratio, guardrails, the winner by the primary metric.
Evidence GatherEvidence(const ReportInput& input);

// Of the primary metric, every treatment in the order of arms; not corrected.
std::vector<Comparison> ComparePrimary(const ReportInput& input);

}  // namespace waymark
