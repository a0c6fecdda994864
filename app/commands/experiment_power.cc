#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/option_checks.h"
#include "experiment/statistics/group_sequential.h"
#include "experiment/statistics/power.h"

namespace waymark {
namespace experiment_power_command {
namespace {

struct Options {
  double effect = 0, baseline = 0, variance = 0, power = 0.8, alpha = 0.05, units_a_day = 0;
  int looks = 1;
  std::string spending = "obrien-fleming";
  bool json = false;
};

struct Looks {
  std::vector<statistics::Boundary> boundaries;
  double factor = 1;  // units of one look -> units of these looks
};

absl::StatusOr<Looks> PlanLooks(const Options& options) {
  std::vector<double> shares;
  for (int look = 1; look <= options.looks; ++look)
    shares.push_back(static_cast<double>(look) / options.looks);
  const statistics::GroupSequentialOptions plan{.alpha = options.alpha,
                                                .spending = options.spending == "pocock"
                                                                ? statistics::Spending::kPocock
                                                                : statistics::Spending::kObrienFleming};
  auto boundaries = statistics::GroupSequential(shares, plan);
  if (!boundaries.ok()) return boundaries.status();
  auto factor = statistics::UnitsFactor(shares, plan, options.power);
  if (!factor.ok()) return factor.status();
  return Looks{*std::move(boundaries), *factor};
}

int Print(const Options& options, double units) {
  std::vector<statistics::Boundary> boundaries;
  if (options.looks > 1) {
    auto made = PlanLooks(options);
    if (!made.ok()) return Fail(made.status());
    boundaries = std::move(made->boundaries);
    units = std::ceil(units * made->factor);
  }
  const double days = options.units_a_day > 0 ? std::ceil(2 * units / options.units_a_day) : 0;
  if (options.json) {
    nlohmann::json out{{"units_a_group", units}, {"units", 2 * units}};
    if (days > 0) out["days"] = days;
    for (const statistics::Boundary& look : boundaries) {
      out["looks"].push_back({{"units_a_group", std::ceil(look.share * units)},
                              {"z", look.z},
                              {"p_value", look.nominal_p},
                              {"spent_alpha", look.spent_alpha}});
    }
    return PrintJson(out.dump(2));
  }
  std::printf("%.0f units a group, %.0f in two groups of equal size\n", units, 2 * units);
  if (days > 0) std::printf("%.0f days at %g units a day\n", days, options.units_a_day);
  if (boundaries.empty()) {
    std::printf("for one look at the end; intervals that hold at every look need more\n");
    return kDone;
  }
  std::printf("looks that are kept to, with the fixed-horizon p-value that tells the arms apart at each:\n");
  for (const statistics::Boundary& look : boundaries) {
    std::printf("  %9.0f units a group: p under %.3g (z %.4f), %.3g of alpha is spent by then\n",
                std::ceil(look.share * units), look.nominal_p, look.z, look.spent_alpha);
  }
  return kDone;
}

int RunPower(const Options& options, bool by_baseline) {
  const double other = options.baseline + options.effect;
  if (by_baseline && !(other > 0 && other < 1)) {
    return FailUsage("--effect: the baseline and it add up to " + std::to_string(other) +
                     "; a proportion lies between 0 and 1");
  }
  const statistics::PowerQuestion question =
      by_baseline
          ? statistics::ProportionQuestion(options.baseline, options.effect, options.alpha, options.power)
          : statistics::PowerQuestion{options.effect, options.variance, options.variance, options.alpha,
                                      options.power};
  return Print(options, std::ceil(statistics::UnitsPerGroup(question)));
}

}  // namespace
}  // namespace experiment_power_command

void AddExperimentPower(CLI::App* group, Run* run) {
  using namespace experiment_power_command;
  CLI::App* command = AddCommand(group, "power", "How many units it takes to find an effect",
                                 "  waymark experiment power --baseline .34 --effect .003 --power .85");
  auto options = std::make_shared<Options>();
  command->add_option("--effect", options->effect, "the smallest difference that matters, absolute")
      ->required()
      ->check(OverZero())
      ->type_name("DIFFERENCE");
  CLI::Option* baseline =
      command->add_option("--baseline", options->baseline, "of a proportion: the control's share")
          ->check(BetweenZeroAndOne())
          ->type_name("SHARE");
  CLI::Option* variance =
      command->add_option("--variance", options->variance, "of a mean: the variance over units")
          ->check(OverZero())
          ->type_name("VARIANCE");
  baseline->excludes(variance);
  command->add_option("--power", options->power, "chance to find it")
      ->capture_default_str()
      ->check(BetweenZeroAndOne())
      ->type_name("CHANCE");
  command->add_option("--alpha", options->alpha, "chance to find what is not there")
      ->capture_default_str()
      ->check(BetweenZeroAndOne())
      ->type_name("CHANCE");
  command->add_option("--units-a-day", options->units_a_day, "new units of both groups; tells the days")
      ->check(OverZero())
      ->type_name("N");
  CLI::Option* looks =
      command
          ->add_option("--looks", options->looks,
                       "looks at even distances that are fixed beforehand, the last at the end")
          ->check(CLI::Range(1, 50))
          ->capture_default_str()
          ->type_name("N");
  command
      ->add_option("--spending", options->spending, "how alpha is spent over looks: obrien-fleming or pocock")
      ->check(CLI::IsMember({"obrien-fleming", "pocock"}))
      ->capture_default_str()
      ->needs(looks)
      ->type_name("WAY");
  command->add_flag("--json", options->json, "one JSON document");
  command->callback([=] {
    *run = [=] {
      if (baseline->count() + variance->count() == 0)
        return FailUsage("power takes --baseline of a proportion, or --variance of a mean");
      return RunPower(*options, baseline->count() > 0);
    };
  });
}

}  // namespace waymark
