#include "experiment/statistics/group_sequential.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "experiment/statistics/distributions.h"

namespace waymark::statistics {
namespace {

constexpr size_t kMostLooks = 50;
// Simpson's rule over the values that go on: an even number of steps, fine enough for five digits.
constexpr int kSteps = 800;
constexpr double kWidestZ = 12;

// Density of the sum where no look has stopped it, at even places of [-limit, limit]; limit 0: all of it at
// 0.
struct Going {
  double limit = 0;
  std::vector<double> density;

  double At(int step) const { return -limit + 2 * limit * step / kSteps; }
  double Weight(int step) const {
    const double h = 2 * limit / kSteps;
    return (step == 0 || step == kSteps ? 1 : step % 2 == 1 ? 4 : 2) * h / 3;
  }
};

// Chance that the next sum lies beyond +-limit, whose increment has this deviation.
double CrossingChance(const Going& going, double limit, double deviation) {
  const auto beyond = [&](double from) {
    return NormalTail((limit - from) / deviation) + NormalTail((limit + from) / deviation);
  };
  if (going.limit == 0) return beyond(0);
  double chance = 0;
  for (int step = 0; step <= kSteps; ++step) {
    chance += going.Weight(step) * going.density[static_cast<size_t>(step)] * beyond(going.At(step));
  }
  return chance;
}

Going Next(const Going& going, double limit, double deviation) {
  Going next{limit, std::vector<double>(kSteps + 1)};
  for (int to = 0; to <= kSteps; ++to) {
    double density = 0;
    if (going.limit == 0) {
      density = NormalDensity(next.At(to) / deviation) / deviation;
    } else {
      for (int from = 0; from <= kSteps; ++from) {
        density += going.Weight(from) * going.density[static_cast<size_t>(from)] *
                   NormalDensity((next.At(to) - going.At(from)) / deviation) / deviation;
      }
    }
    next.density[static_cast<size_t>(to)] = density;
  }
  return next;
}

absl::Status CheckShares(absl::Span<const double> shares, double alpha) {
  if (!(alpha > 0 && alpha < .5)) {
    return absl::InvalidArgumentError(absl::StrCat("alpha is ", alpha, "; it lies between 0 and .5"));
  }
  if (shares.empty() || shares.size() > kMostLooks) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", shares.size(), " looks; it takes 1 to ", kMostLooks));
  }
  double before = 0;
  for (const double share : shares) {
    if (!(share > before && share <= 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a look at ", share, " after ", before, "; looks grow, up to 1"));
    }
    before = share;
  }
  if (before != 1) {
    return absl::InvalidArgumentError(absl::StrCat("the last look is at ", before, "; it is at 1"));
  }
  return absl::OkStatus();
}

struct Plan {
  std::vector<Boundary> boundaries;
  Going after;  // what no look has stopped
};

absl::StatusOr<Plan> PlanLooks(absl::Span<const double> shares, const GroupSequentialOptions& options) {
  if (absl::Status status = CheckShares(shares, options.alpha); !status.ok()) return status;
  Plan plan;
  double before = 0, spent = 0;
  for (const double share : shares) {
    const double deviation = std::sqrt(share - before), now = SpentAlpha(share, options);
    double low = 0, high = kWidestZ;
    for (int step = 0; step < 60; ++step) {
      const double z = (low + high) / 2;
      (CrossingChance(plan.after, z * std::sqrt(share), deviation) > now - spent ? low : high) = z;
    }
    plan.boundaries.push_back({share, high, 2 * NormalTail(high), now});
    plan.after = Next(plan.after, high * std::sqrt(share), deviation);
    before = share;
    spent = now;
  }
  return plan;
}

// Chance that a look stops, when the sum drifts by this much over all units: of a drifting sum s at the end
// the density is that of one at rest times exp(drift s - drift^2 / 2).
double StoppingChance(const Going& after, double drift) {
  double going = 0;
  for (int step = 0; step <= kSteps; ++step) {
    going += after.Weight(step) * after.density[static_cast<size_t>(step)] *
             std::exp(drift * after.At(step) - drift * drift / 2);
  }
  return 1 - going;
}

}  // namespace

double SpentAlpha(double share, const GroupSequentialOptions& options) {
  if (options.spending == Spending::kPocock) return options.alpha * std::log1p((M_E - 1) * share);
  return 4 * NormalTail(NormalQuantile(1 - options.alpha / 4) / std::sqrt(share));
}

absl::StatusOr<std::vector<Boundary>> GroupSequential(absl::Span<const double> shares,
                                                      const GroupSequentialOptions& options) {
  auto plan = PlanLooks(shares, options);
  if (!plan.ok()) return plan.status();
  return std::move(plan->boundaries);
}

absl::StatusOr<double> UnitsFactor(absl::Span<const double> shares, const GroupSequentialOptions& options,
                                   double power) {
  const auto plan = PlanLooks(shares, options);
  if (!plan.ok()) return plan.status();
  if (!(power > options.alpha && power < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("power is ", power, "; it lies between alpha, ", options.alpha, ", and 1"));
  }
  double low = 0, high = kWidestZ;
  for (int step = 0; step < 60; ++step) {
    const double drift = (low + high) / 2;
    (StoppingChance(plan->after, drift) < power ? low : high) = drift;
  }
  const double one_look = NormalQuantile(1 - options.alpha / 2) + NormalQuantile(power);
  return (high / one_look) * (high / one_look);
}

}  // namespace waymark::statistics
