#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "app/commands/commands.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/option_checks.h"
#include "app/target.h"
#include "experiment/offpolicy/doubly_robust.h"
#include "experiment/offpolicy/inverse_propensity.h"
#include "experiment/offpolicy/self_normalised.h"
#include "store/rows/row_reader.h"
#include "waymark/v1/experiment.pb.h"

namespace waymark {
namespace experiment_offpolicy_command {
namespace {

using Answer = v1::EvaluatePolicyResponse;

// A file holds a decision a line; more than this would not fit into memory as they are kept.
constexpr size_t kMostDecisions = 50'000'000;

struct Options {
  Target target;
  std::string id, metric, file, reward, propensity, policy, predicted, predicted_policy;
  std::vector<std::string> shares;
  double weight_cap = 0;
};

int PrintAnswer(const Options& options, const Answer& answer) {
  if (options.target.json) return PrintJson(answer);
  std::printf("%lld decisions, %.6g on average as they were made\n", static_cast<long long>(answer.units()),
              answer.logged_value());
  for (const Answer::Estimate& one : answer.estimates()) {
    std::printf("  %-14s %.6g [%.6g, %.6g], effective sample size %.0f\n", one.method().c_str(), one.value(),
                one.low(), one.high(), one.effective_sample_size());
    for (const std::string& warning : one.warnings()) std::printf("    warning: %s\n", warning.c_str());
  }
  return kDone;
}

// A number of each decision: a column of the file, or the same for all.
struct Wanted {
  const char* option;
  const std::string* column;
  double LoggedDecision::*into;
  double same = 0;
  bool in_file = true;
};

std::vector<Wanted> WantedOf(const Options& options) {
  std::vector<Wanted> all = {{"--reward", &options.reward, &LoggedDecision::reward},
                             {"--propensity", &options.propensity, &LoggedDecision::logged_propensity},
                             {"--policy", &options.policy, &LoggedDecision::target_propensity}};
  if (!options.predicted.empty()) {
    all.push_back({"--predicted", &options.predicted, &LoggedDecision::predicted});
    all.push_back({"--predicted-policy", &options.predicted_policy, &LoggedDecision::predicted_under_target});
  }
  for (Wanted& wanted : all) {  // «inf» and «nan» are no numbers here, so they may be columns
    wanted.in_file = !absl::SimpleAtod(*wanted.column, &wanted.same) || !std::isfinite(wanted.same);
  }
  return all;
}

absl::StatusOr<double> NumberIn(const Row& row, const Wanted& wanted) {
  const auto found = row.fields.fields().find(wanted.option);
  const std::string text = found == row.fields.fields().end() ? "" : found->second.string_value();
  double number = 0;
  bool happened = false;
  if (absl::SimpleAtod(text, &number) && std::isfinite(number)) return number;
  if (absl::SimpleAtob(text, &happened)) return happened ? 1 : 0;
  return absl::InvalidArgumentError(
      absl::StrCat("line ", row.line, ": '", *wanted.column, "' (", wanted.option, ") ",
                   text.empty() ? "is empty" : absl::StrCat("is '", text, "', which is no number")));
}

absl::StatusOr<std::vector<LoggedDecision>> ReadDecisions(const Options& options) {
  const std::vector<Wanted> all = WantedOf(options);
  RowOptions rows;
  rows.has_ids = false;
  rows.mapping.only_mapped = true;
  for (const Wanted& wanted : all) {
    if (wanted.in_file)
      rows.mapping.fields.push_back({wanted.option, *wanted.column, {CellType::Kind::kText, ""}});
  }
  auto reader = RowReader::Open(options.file, rows);
  if (!reader.ok()) return reader.status();
  std::vector<LoggedDecision> log;
  Row row;
  while (true) {
    auto more = (*reader)->Next(&row);
    if (!more.ok()) return more.status();
    if (!*more) return log;
    if (!row.refusal.empty())
      return absl::InvalidArgumentError(absl::StrCat("line ", row.line, ": ", row.refusal));
    if (log.size() == kMostDecisions) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the file has more than ", kMostDecisions, " decisions"));
    }
    LoggedDecision& decision = log.emplace_back();
    for (const Wanted& wanted : all) {
      auto number = wanted.in_file ? NumberIn(row, wanted) : absl::StatusOr<double>(wanted.same);
      if (!number.ok()) return number.status();
      decision.*wanted.into = *number;
      const bool logged = wanted.into == &LoggedDecision::logged_propensity;
      if (!logged && wanted.into != &LoggedDecision::target_propensity) continue;
      if (*number <= 1 && (logged ? *number > 0 : *number >= 0)) continue;
      return absl::InvalidArgumentError(absl::StrCat("line ", row.line, ": '", *wanted.column, "' (",
                                                     wanted.option, ") is ", *number, "; a chance lies in ",
                                                     logged ? "(0, 1]" : "[0, 1]"));
    }
  }
}

absl::Status AddEstimate(const char* method, const absl::StatusOr<OffPolicyEstimate>& estimate,
                         Answer* answer) {
  if (!estimate.ok()) return estimate.status();
  Answer::Estimate* made = answer->add_estimates();
  made->set_method(method);
  made->set_value(estimate->value);
  made->set_standard_error(estimate->standard_error);
  made->set_low(estimate->low);
  made->set_high(estimate->high);
  made->set_effective_sample_size(estimate->effective_sample_size);
  made->set_mean_weight(estimate->mean_weight);
  for (const std::string& warning : estimate->warnings) made->add_warnings(warning);
  return absl::OkStatus();
}

int EvaluateFile(const Options& options) {
  if (options.reward.empty() || options.propensity.empty() || options.policy.empty()) {
    return FailUsage("--file takes --reward, --propensity and --policy: columns, or numbers");
  }
  if (!options.shares.empty() || !options.metric.empty()) {
    return FailUsage("--share and --metric are of an experiment; a --file takes --policy and --reward");
  }
  if (options.predicted.empty() != options.predicted_policy.empty()) {
    return FailUsage("the doubly robust estimate takes --predicted and --predicted-policy, or neither");
  }
  auto log = ReadDecisions(options);
  if (!log.ok()) return Fail(log.status());
  const OffPolicyOptions settings{.weight_cap = options.weight_cap};
  Answer answer;
  answer.set_units(static_cast<int64_t>(log->size()));
  double sum = 0;
  for (const LoggedDecision& decision : *log) sum += decision.reward;
  if (!log->empty()) answer.set_logged_value(sum / static_cast<double>(log->size()));
  absl::Status status = AddEstimate("ips", InversePropensity(*log, settings), &answer);
  status.Update(AddEstimate("snips", SelfNormalised(*log, settings), &answer));
  if (!options.predicted.empty())
    status.Update(AddEstimate("doubly_robust", DoublyRobust(*log, settings), &answer));
  return status.ok() ? PrintAnswer(options, answer) : Fail(status);
}

int EvaluateExperiment(const Options& options) {
  for (const std::string* column : {&options.reward, &options.propensity, &options.policy, &options.predicted,
                                    &options.predicted_policy}) {
    if (!column->empty())
      return FailUsage("columns are of a --file; an experiment takes --share, and --metric");
  }
  v1::EvaluatePolicyRequest request;
  request.set_parent(Parent(options.target));
  request.set_id(options.id);
  request.set_metric(options.metric);
  request.set_weight_cap(options.weight_cap);
  for (const std::string& text : options.shares) {
    const size_t equals = text.find('=');
    double share = 0;
    if (equals == 0 || equals == std::string::npos || !absl::SimpleAtod(text.substr(equals + 1), &share)) {
      return FailUsage("--share: '" + text + "' is not ARM=SHARE");
    }
    (*request.mutable_shares())[text.substr(0, equals)] = share;
  }
  auto backend = OpenTarget(options.target, Access::kWrite);
  if (!backend.ok()) return Fail(backend.status());
  Answer answer;
  auto status = (*backend)->Call("waymark.v1.ExperimentService.EvaluatePolicy", request, &answer);
  return status.ok() ? PrintAnswer(options, answer) : Fail(status);
}

}  // namespace
}  // namespace experiment_offpolicy_command

void AddExperimentOffPolicy(CLI::App* group, Run* run) {
  using namespace experiment_offpolicy_command;
  CLI::App* command = AddCommand(
      group, "offpolicy", "What another policy would have earned, from what was logged with its propensities",
      "  waymark experiment offpolicy banner --share new=1 --data DIR\n"
      "  waymark experiment offpolicy --file log.csv --reward click --propensity p "
      "--policy .02");
  auto options = std::make_shared<Options>();
  AddTargetOptions(command, &options->target, [=] { return !options->file.empty(); });
  command->add_option("id", options->id, "the experiment; or --file")->type_name("ID");
  command->add_option("--share", options->shares, "how the arms would be given out; others: 0")
      ->type_name("ARM=SHARE")
      ->allow_extra_args(false);
  command->add_option("--metric", options->metric, "of the experiment; none: the primary one")
      ->type_name("NAME");
  command->add_option("--file", options->file, "decisions, one a line: CSV, TSV or JSONL")->type_name("FILE");
  command->add_option("--reward", options->reward, "of --file: what the decision earned")
      ->type_name("COLUMN");
  command
      ->add_option("--propensity", options->propensity,
                   "of --file: the logging policy's chance of the decision")
      ->type_name("COLUMN");
  command->add_option("--policy", options->policy, "of --file: the other policy's chance of it")
      ->type_name("COLUMN|NUMBER");
  command->add_option("--predicted", options->predicted, "of --file: a model's reward of the decision")
      ->type_name("COLUMN");
  command
      ->add_option("--predicted-policy", options->predicted_policy,
                   "of --file: the model's reward under the other policy")
      ->type_name("COLUMN");
  command
      ->add_option("--weight-cap", options->weight_cap,
                   "cut weights to this, which biases and calms; 0: none")
      ->check(ZeroOrMore())
      ->type_name("WEIGHT");
  command->callback([=] {
    *run = [=] {
      if (options->id.empty() == options->file.empty())
        return FailUsage("offpolicy takes an experiment, or a --file");
      return options->file.empty() ? EvaluateExperiment(*options) : EvaluateFile(*options);
    };
  });
}

}  // namespace waymark
