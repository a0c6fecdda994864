#include "app/experiment_options.h"

#include <google/protobuf/util/json_util.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "app/option_checks.h"

namespace waymark {
namespace {

using v1::Experiment;

constexpr double kSecondsADay = 24 * 3600;

absl::Status Wrong(const std::string& option, const std::string& text, const std::string& form) {
  return absl::InvalidArgumentError(absl::StrCat(option, ": '", text, "' is not ", form));
}

absl::Status ReadFile(const std::string& path, Experiment* experiment) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return absl::InvalidArgumentError(absl::StrCat("--file: '", path, "' cannot be read"));
  const auto status = google::protobuf::util::JsonStringToMessage(text.str(), experiment);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--file: '", path, "' is no experiment in JSON: ", std::string(status.message())));
}

// «NAME=RELEASE[:WEIGHT]». Weight 0: none was given.
absl::Status AddArm(const std::string& text, Experiment* experiment) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    return Wrong("--arm", text, "NAME=RELEASE[:WEIGHT]");
  Experiment::Arm* arm = experiment->add_arms();
  arm->set_name(text.substr(0, equals));
  std::string release = text.substr(equals + 1);
  double weight = 0;
  const size_t colon = release.rfind(':');
  if (colon != std::string::npos && absl::SimpleAtod(release.substr(colon + 1), &weight)) {
    release.resize(colon);
    if (!(weight > 0)) return Wrong("--arm", text, "NAME=RELEASE[:WEIGHT] with a weight over 0");
  }
  if (absl::StartsWith(release, "slots/")) {
    arm->set_slot_variant(release);
  } else {
    arm->set_release(release);
  }
  arm->set_weight(weight);
  return absl::OkStatus();
}

absl::Status FillArms(const std::vector<std::string>& texts, Experiment* experiment) {
  if (texts.empty()) return absl::OkStatus();
  experiment->clear_arms();
  int weighed = 0;
  for (const std::string& text : texts) {
    if (auto status = AddArm(text, experiment); !status.ok()) return status;
    weighed += experiment->arms().rbegin()->weight() > 0;
  }
  if (weighed == experiment->arms_size()) return absl::OkStatus();
  if (weighed != 0) return absl::InvalidArgumentError("--arm: give each arm a weight, or none");
  for (Experiment::Arm& arm : *experiment->mutable_arms()) arm.set_weight(1.0 / experiment->arms_size());
  return absl::OkStatus();
}

absl::Status AddGuardrail(const std::string& text, Experiment* experiment) {
  const size_t equals = text.find('=');
  double tolerance = 0;
  Experiment::Guardrail::Measure measure = Experiment::Guardrail::MEASURE_UNSPECIFIED;
  if (equals == std::string::npos || !absl::SimpleAtod(text.substr(equals + 1), &tolerance) ||
      !Experiment::Guardrail::Measure_Parse(absl::AsciiStrToUpper(text.substr(0, equals)), &measure)) {
    return Wrong("--guardrail", text, "MEASURE=TOLERANCE with latency, error_rate, empty_rate or diversity");
  }
  Experiment::Guardrail* guardrail = experiment->add_guardrails();
  guardrail->set_measure(measure);
  guardrail->set_tolerance(tolerance);
  return absl::OkStatus();
}

void FillMetric(const ExperimentOptions& options, Experiment* experiment) {
  if (options.event.empty()) return;
  Experiment::Metric* metric = experiment->add_metrics();
  metric->set_name(options.event);
  metric->set_kind(options.proportion ? Experiment::Metric::PROPORTION : Experiment::Metric::MEAN);
  metric->mutable_events()->set_type(options.event);
  metric->mutable_window()->set_seconds(static_cast<int64_t>(options.window_days * kSecondsADay));
  experiment->set_primary_metric(options.event);
}

}  // namespace

void AddExperimentOptions(CLI::App* command, ExperimentOptions* options) {
  command->add_option("--file", options->file, "the experiment as JSON (docs/experiments.md)")
      ->type_name("FILE");
  command->add_option("--id", options->id, "its name")->type_name("ID");
  command->add_option("--hypothesis", options->hypothesis, "what is expected; the start freezes it")
      ->type_name("TEXT");
  command->add_option("--description", options->description, "for people")->type_name("TEXT");
  command
      ->add_option("--arm", options->arms,
                   "an arm and its release, or slots/S/variants/V; the first is the control")
      ->type_name("NAME=RELEASE[:WEIGHT]")
      ->allow_extra_args(false);
  CLI::Option* event =
      command->add_option("--event", options->event, "primary metric: how many of these events a unit has")
          ->type_name("TYPE");
  command->add_flag("--any", options->proportion, "with --event: whether a unit has one, not how many")
      ->needs(event);
  command->add_option("--window", options->window_days, "with --event: days after the exposure that count")
      ->capture_default_str()
      ->check(OverZero())
      ->needs(event)
      ->type_name("DAYS");
  command
      ->add_option("--guardrail", options->guardrails,
                   "latency, error_rate, empty_rate or diversity, and how much worse it may be")
      ->type_name("MEASURE=TOLERANCE")
      ->allow_extra_args(false);
  command->add_option("--unit", options->unit, "what is drawn: user, visitor, session or request")
      ->check(CLI::IsMember({"user", "visitor", "session", "request"}))
      ->type_name("UNIT");
  command->add_option("--mode", options->mode, "split, interleaved or bandit")
      ->check(CLI::IsMember({"split", "interleaved", "bandit"}))
      ->type_name("MODE");
  command->add_option("--layer", options->layer, "share no unit with other experiments of it")
      ->type_name("LAYER");
  command->add_option("--slot", options->slot, "the part of the layer, as --slot 0 .5")
      ->expected(2)
      ->type_name("BEGIN END");
  command->add_option("--targeting", options->targeting, "only requests that pass, as 'country = \"DE\"'")
      ->type_name("FILTER");
  command->add_option("--min-exposures", options->min_exposures, "units an arm before each step of the ramp")
      ->check(OverZero())
      ->type_name("N");
  CLI::Option* looks =
      command->add_option("--looks", options->looks, "decide at so many looks that are fixed beforehand")
          ->check(CLI::Range(1, 50))
          ->type_name("N");
  CLI::Option* units = command
                           ->add_option("--units", options->units,
                                        "with --looks: units of all arms together, the last look is there")
                           ->check(OverZero())
                           ->needs(looks)
                           ->type_name("N");
  looks->needs(units);
  command
      ->add_option("--spending", options->spending,
                   "with --looks: how the error is spent, obrien-fleming or pocock")
      ->check(CLI::IsMember({"obrien-fleming", "pocock"}))
      ->needs(looks)
      ->type_name("HOW");
  command->add_flag("--automatic-ramp", options->automatic_ramp, "take the steps as their conditions hold");
}

absl::StatusOr<Experiment> ExperimentOf(const ExperimentOptions& options) {
  Experiment experiment;
  if (!options.file.empty()) {
    if (auto status = ReadFile(options.file, &experiment); !status.ok()) return status;
  }
  if (!options.id.empty()) experiment.set_id(options.id);
  if (!options.hypothesis.empty()) experiment.set_hypothesis(options.hypothesis);
  if (!options.description.empty()) experiment.set_description(options.description);
  if (!options.targeting.empty()) experiment.set_targeting(options.targeting);
  if (options.min_exposures > 0) experiment.set_min_exposures(options.min_exposures);
  if (options.automatic_ramp) experiment.set_automatic_ramp(true);
  if (!options.unit.empty()) {
    Experiment::Unit unit = Experiment::UNIT_UNSPECIFIED;
    Experiment::Unit_Parse(absl::AsciiStrToUpper(options.unit), &unit);
    experiment.set_unit(unit);
  }
  if (!options.mode.empty()) {
    Experiment::Mode mode = Experiment::MODE_UNSPECIFIED;
    Experiment::Mode_Parse(absl::AsciiStrToUpper(options.mode), &mode);
    experiment.set_mode(mode);
  }
  if (!options.layer.empty()) experiment.set_layer(options.layer);
  if (options.slot.size() == 2) {
    experiment.set_slot_begin(options.slot[0]);
    experiment.set_slot_end(options.slot[1]);
  }
  if (auto status = FillArms(options.arms, &experiment); !status.ok()) return status;
  for (const std::string& guardrail : options.guardrails) {
    if (auto status = AddGuardrail(guardrail, &experiment); !status.ok()) return status;
  }
  FillMetric(options, &experiment);
  if (options.looks > 0) {
    experiment.mutable_planned_looks()->set_looks(options.looks);
    experiment.mutable_planned_looks()->set_units(options.units);
    experiment.mutable_planned_looks()->set_spending(options.spending == "pocock"
                                                         ? Experiment::PlannedLooks::POCOCK
                                                         : Experiment::PlannedLooks::OBRIEN_FLEMING);
  }
  if (experiment.id().empty()) return absl::InvalidArgumentError("--id is required, or an id in the --file");
  return experiment;
}

}  // namespace waymark
