// Looks that are fixed beforehand, with the error spent over them: narrower than intervals that hold at every
// look, for who knows when they will look and keeps to it.
//
//   auto boundaries = GroupSequential({.2, .4, .6, .8, 1}, {.spending = Spending::kObrienFleming});
//   // at look k: «different» when |estimate / standard error| >= (*boundaries)[k].z
//
// Lan, DeMets: Discrete sequential boundaries for clinical trials, Biometrika 70 (1983). Boundaries by
// numerical integration over what goes on (Armitage, McPherson, Rowe, JRSS A 132 (1969); Jennison, Turnbull:
// Group Sequential Methods, 2000, chapter 19).
#pragma once
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace waymark::statistics {

// How much of alpha is spent by the share t of all units:
//   O'Brien-Fleming type: 4 - 4 Phi(z_{alpha/4} / sqrt(t)), half of it on each side; next to nothing early
//   Pocock type: alpha ln(1 + (e - 1) t), about alike at every look
enum class Spending { kObrienFleming, kPocock };

struct GroupSequentialOptions {
  double alpha = 0.05;  // two-sided
  Spending spending = Spending::kObrienFleming;
};

struct Boundary {
  double share = 0;        // of all units
  double z = 0;            // of the estimate over its standard error
  double nominal_p = 0;    // two-sided, of that z: what the fixed-horizon p-value has to be under
  double spent_alpha = 0;  // so far
};

double SpentAlpha(double share, const GroupSequentialOptions& options);

// shares: ascending, over 0, the last 1; at most 50. INVALID_ARGUMENT says which is wrong.
absl::StatusOr<std::vector<Boundary>> GroupSequential(absl::Span<const double> shares,
                                                      const GroupSequentialOptions& options);

// How many times the units of a test with one look these looks take, all together, to find an effect with
// this power: over 1, next to it for O'Brien-Fleming's spending. INVALID_ARGUMENT as above, or a power that
// does not lie between alpha and 1.
absl::StatusOr<double> UnitsFactor(absl::Span<const double> shares, const GroupSequentialOptions& options,
                                   double power);

}  // namespace waymark::statistics
