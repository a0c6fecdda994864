#include "experiment/decisions/conditions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace waymark {
namespace {

using statistics::SampleRatioVerdict;
using storage::ExperimentRecord;

const GuardrailResult* Violated(const std::vector<GuardrailResult>& guardrails) {
  for (const GuardrailResult& guardrail : guardrails) {
    if (guardrail.violated) return &guardrail;
  }
  return nullptr;
}

std::string Describe(const ExperimentRecord& record, const GuardrailResult& guardrail) {
  return absl::StrFormat(
      "guardrail %s of arm '%s': %.4g against %.4g of the control, worse by %.4g to %.4g where %.4g is "
      "allowed",
      std::string(MeasureName(guardrail.measure)), record.arms(guardrail.arm).name(), guardrail.treatment,
      guardrail.control, guardrail.worse_by.low, guardrail.worse_by.high, guardrail.tolerance);
}

void CheckTrust(const ExperimentRecord& record, const Evidence& evidence, std::vector<std::string>* unmet) {
  if (evidence.sample_ratio.verdict == SampleRatioVerdict::kBlocks) {
    unmet->push_back(absl::StrFormat(
        "sample ratio: chi-squared %.2f, p %.2g is under %g, so no figure can be trusted",
        evidence.sample_ratio.chi_squared, evidence.sample_ratio.p_value, statistics::kSampleRatioBlocks));
  }
  if (const GuardrailResult* guardrail = Violated(evidence.guardrails))
    unmet->push_back(Describe(record, *guardrail));
}

void CheckCopies(const ExperimentRecord& record, const Evidence& evidence, std::vector<std::string>* unmet) {
  if (record.state() != ExperimentRecord::SHADOW) return;
  for (int arm = 1; arm < record.arms_size(); ++arm) {
    const auto place = static_cast<size_t>(arm);
    const int64_t copies = place < evidence.copies.size() ? evidence.copies[place] : 0;
    if (copies >= record.min_exposures()) continue;
    unmet->push_back(absl::StrCat("min_exposures: arm '", record.arms(arm).name(), "' has scored ", copies,
                                  " copies of requests in the shadow, ", record.min_exposures(),
                                  " are asked for"));
  }
}

void CheckExposures(const ExperimentRecord& record, const Evidence& evidence,
                    std::vector<std::string>* unmet) {
  if (record.state() != ExperimentRecord::RUNNING) return;
  for (int arm = 0; arm < record.arms_size(); ++arm) {
    const auto place = static_cast<size_t>(arm);
    const int64_t units = place < evidence.units_since_step.size() ? evidence.units_since_step[place] : 0;
    if (units >= record.min_exposures()) continue;
    unmet->push_back(absl::StrCat("min_exposures: arm '", record.arms(arm).name(), "' has ", units,
                                  " new units at this step, ", record.min_exposures(), " are asked for"));
  }
}

void CheckRunTime(const ExperimentRecord& record, const Evidence& evidence, absl::Time now,
                  std::vector<std::string>* unmet) {
  const absl::Duration least = absl::Microseconds(record.min_run_us());
  const absl::Duration run = now - absl::FromUnixMicros(record.start_time_us());
  if (run < least) {
    unmet->push_back(absl::StrCat("min_run_time: it ran ",
                                  absl::FormatDuration(absl::Floor(run, absl::Minutes(1))), " of ",
                                  absl::FormatDuration(least)));
    return;
  }
  const int64_t days = absl::ToInt64Hours(least) / 24;
  if (evidence.days_with_exposures < days) {
    unmet->push_back(absl::StrCat("min_run_time: units came on ", evidence.days_with_exposures, " days of ",
                                  days, ", though the clock has gone on"));
  }
}

}  // namespace

std::map<std::string, double> Evidence::Numbers() const {
  std::map<std::string, double> numbers = primary;
  if (!units.empty()) {
    numbers["sample_ratio_chi_squared"] = sample_ratio.chi_squared;
    numbers["sample_ratio_p"] = sample_ratio.p_value;
    numbers["days_with_exposures"] = static_cast<double>(days_with_exposures);
  }
  for (size_t arm = 0; arm < units.size(); ++arm) {
    numbers[absl::StrCat("units_arm_", arm)] = static_cast<double>(units[arm]);
  }
  for (size_t arm = 1; arm < copies.size(); ++arm) {
    if (copies[arm] > 0) numbers[absl::StrCat("copies_arm_", arm)] = static_cast<double>(copies[arm]);
  }
  for (const GuardrailResult& guardrail : guardrails) {
    if (!guardrail.problem.empty()) continue;
    const std::string name =
        absl::StrCat(std::string(MeasureName(guardrail.measure)), " of arm ", guardrail.arm);
    numbers[name] = guardrail.treatment;
    numbers[absl::StrCat(name, " worse by at least")] = guardrail.worse_by.low;
  }
  return numbers;
}

std::vector<std::string> UnmetConditions(const ExperimentRecord& record, const Move& move,
                                         const Evidence& evidence, absl::Time now) {
  std::vector<std::string> unmet;
  if (move.action == Action::kRamp) {
    CheckTrust(record, evidence, &unmet);
    CheckCopies(record, evidence, &unmet);
    CheckExposures(record, evidence, &unmet);
  }
  if (move.action == Action::kRelease) {
    CheckTrust(record, evidence, &unmet);
    CheckRunTime(record, evidence, now, &unmet);
    if (evidence.winner != move.winner) {
      unmet.push_back(absl::StrCat("winner: the primary metric ",
                                   evidence.winner.empty() ? std::string("tells no arm apart yet")
                                                           : absl::StrCat("says '", evidence.winner, "'")));
    }
  }
  return unmet;
}

std::optional<AutomaticMove> RollBackMove(const ExperimentRecord& record,
                                          const std::vector<GuardrailResult>& guardrails) {
  const GuardrailResult* guardrail = IsLive(record.state()) ? Violated(guardrails) : nullptr;
  if (guardrail == nullptr) return std::nullopt;
  AutomaticMove roll_back;
  roll_back.move.action = Action::kRollBack;
  roll_back.reason = Describe(record, *guardrail);
  return roll_back;
}

std::optional<AutomaticMove> NextMove(const ExperimentRecord& record, const Evidence& evidence,
                                      absl::Time now) {
  if (auto roll_back = RollBackMove(record, evidence.guardrails)) return roll_back;
  if (!record.automatic_ramp() || record.state() != ExperimentRecord::RUNNING) return std::nullopt;
  AutomaticMove ramp;
  ramp.move.action = Action::kRamp;
  ramp.move.coverage = NextCoverage(record);
  if (ramp.move.coverage == 0 || !UnmetConditions(record, ramp.move, evidence, now).empty())
    return std::nullopt;
  ramp.reason = absl::StrFormat("all conditions hold at %g%%", 100 * record.coverage());
  return ramp;
}

}  // namespace waymark
