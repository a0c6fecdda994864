#include <string>

#include "serving/services/experiment_messages.h"
#include "serving/services/time_messages.h"

namespace waymark {
namespace {

void Fill(const statistics::TestResult& from, v1::Lift* to) {
  to->set_estimate(from.estimate);
  to->set_standard_error(from.standard_error);
  to->set_low(from.low);
  to->set_high(from.high);
  to->set_p_value(from.p_value);
}

void Fill(const Comparison& from, v1::ExperimentReport::Comparison* to) {
  to->set_metric(from.metric);
  to->set_arm(from.arm);
  to->set_segment(from.segment);
  to->set_control_units(static_cast<int64_t>(from.control_units));
  to->set_treatment_units(static_cast<int64_t>(from.treatment_units));
  to->set_problem(from.problem);
  if (!from.problem.empty()) return;
  to->set_control_mean(from.control_mean);
  to->set_treatment_mean(from.treatment_mean);
  Fill(from.absolute, to->mutable_absolute());
  to->mutable_absolute()->set_adjusted_p_value(from.adjusted_p);
  if (from.relative) Fill(*from.relative, to->mutable_relative());
  Fill(from.fixed_horizon, to->mutable_fixed_horizon());
  to->set_chance_to_win(from.bayes.chance_to_win);
  to->set_control_risk(from.bayes.control_risk);
  to->set_treatment_risk(from.bayes.treatment_risk);
  to->set_variance_reduction(from.variance_reduction);
  to->set_minimal_detectable_effect(from.minimal_detectable_effect);
}

void FillLooks(const ExperimentReport& report, v1::ExperimentReport* to) {
  for (const auto& look : report.looks.looks()) {
    for (int i = 0; i < look.arms_size() && i + 1 < report.record.arms_size(); ++i) {
      const auto& from = look.arms(i);
      v1::ExperimentReport::Look* made = to->add_looks();
      SetTimestamp(look.time_us(), made->mutable_time());
      made->set_arm(report.record.arms(i + 1).name());
      made->set_control_units(static_cast<int64_t>(from.control_units()));
      made->set_treatment_units(static_cast<int64_t>(from.treatment_units()));
      Fill({from.estimate(), from.standard_error(), from.low(), from.high(), from.p_value()},
           made->mutable_absolute());
    }
  }
}

void FillModes(const ExperimentReport& report, v1::ExperimentReport* to) {
  for (const BanditResult& from : report.bandit) {
    v1::ExperimentReport::Bandit* bandit = to->add_bandit();
    bandit->set_arm(from.arm);
    bandit->set_share(from.share);
    bandit->set_units(static_cast<int64_t>(from.units));
    bandit->set_successes(static_cast<int64_t>(from.successes));
    bandit->set_mean(from.mean);
    bandit->set_low(from.low);
    bandit->set_high(from.high);
  }
  for (const InterleavingResult& from : report.interleaving) {
    const PreferenceResult& preference = from.preference;
    v1::ExperimentReport::Interleaving* interleaving = to->add_interleaving();
    interleaving->set_arm(from.arm);
    interleaving->set_lists(from.lists);
    interleaving->set_readers(static_cast<int64_t>(preference.lists));
    interleaving->set_control_wins(static_cast<int64_t>(preference.a_wins));
    interleaving->set_treatment_wins(static_cast<int64_t>(preference.b_wins));
    interleaving->set_ties(static_cast<int64_t>(preference.ties));
    interleaving->set_preference(preference.delta);
    Fill(preference.sequence, interleaving->mutable_difference());
    interleaving->set_sign_test_p(preference.sign_test_p);
  }
}

std::string VerdictOf(statistics::SampleRatioVerdict verdict) {
  switch (verdict) {
    case statistics::SampleRatioVerdict::kFine:
      return "fine";
    case statistics::SampleRatioVerdict::kWarns:
      return "warns";
    case statistics::SampleRatioVerdict::kBlocks:
      return "blocks";
  }
  return "";
}

void Fill(const PlannedLookResult& from, v1::ExperimentReport::PlannedLook* to) {
  SetTimestamp(absl::ToUnixMicros(from.time), to->mutable_time());
  to->set_arm(from.arm);
  to->set_units(from.units);
  to->set_share(from.share);
  Fill({from.estimate, from.standard_error, from.low, from.high, from.p_value}, to->mutable_difference());
  to->set_boundary_p(from.boundary_p);
  to->set_crossed(from.crossed);
}

}  // namespace

void ToMessage(const ExperimentReport& report, v1::ExperimentReport* to) {
  const storage::ExperimentRecord& record = report.record;
  to->set_id(record.id());
  to->set_state(StateOf(record.state()));
  to->set_coverage(record.coverage());
  SetTimestamp(absl::ToUnixMicros(report.time), to->mutable_time());
  for (int i = 0; i < record.arms_size(); ++i) {
    v1::ExperimentReport::Arm* arm = to->add_arms();
    arm->set_name(record.arms(i).name());
    arm->set_weight(record.arms(i).weight());
    if (static_cast<size_t>(i) < report.evidence.units.size()) arm->set_units(report.evidence.units[i]);
  }
  to->set_conflicting_units(report.conflicts);
  to->set_sample_ratio_chi_squared(report.evidence.sample_ratio.chi_squared);
  to->set_sample_ratio_p_value(report.evidence.sample_ratio.p_value);
  to->set_sample_ratio_verdict(VerdictOf(report.evidence.sample_ratio.verdict));
  for (const Comparison& comparison : report.comparisons) Fill(comparison, to->add_comparisons());
  for (const Comparison& comparison : report.segments) Fill(comparison, to->add_segments());
  for (const DayEffect& effect : report.days) {
    v1::ExperimentReport::Day* day = to->add_days();
    day->set_day(effect.day);
    day->set_arm(effect.arm);
    Fill(effect.absolute, day->mutable_absolute());
  }
  for (const GuardrailResult& result : report.evidence.guardrails) {
    v1::ExperimentReport::Guardrail* guardrail = to->add_guardrails();
    guardrail->set_measure(std::string(MeasureName(result.measure)));
    guardrail->set_arm(record.arms(result.arm).name());
    guardrail->set_control(result.control);
    guardrail->set_treatment(result.treatment);
    Fill(result.worse_by, guardrail->mutable_worse_by());
    guardrail->set_violated(result.violated);
    guardrail->set_problem(result.problem);
  }
  for (const ShadowResult& result : report.shadow) {
    v1::ExperimentReport::Shadow* shadow = to->add_shadow();
    shadow->set_arm(result.arm);
    shadow->set_copies(static_cast<int64_t>(result.copies));
    shadow->set_skipped(static_cast<int64_t>(result.skipped));
    shadow->set_overlap(result.overlap);
    shadow->set_rank_correlation(result.rank_correlation);
    shadow->set_latency_ms(result.latency_ms);
    shadow->set_served_latency_ms(result.served_latency_ms);
    shadow->set_error_rate(result.error_rate);
    shadow->set_empty_rate(result.empty_rate);
  }
  to->set_mode(ModeOf(record.mode()));
  to->set_alpha(record.alpha());
  FillLooks(report, to);
  for (const PlannedLookResult& look : report.planned_looks) Fill(look, to->add_planned_looks());
  FillModes(report, to);
  to->set_verdict(std::string(VerdictName(report.verdict)));
  to->set_winner(report.evidence.winner);
  for (const std::string& warning : report.warnings) to->add_warnings(warning);
  for (const std::string& shared : report.interference) to->add_interference(shared);
}

}  // namespace waymark
