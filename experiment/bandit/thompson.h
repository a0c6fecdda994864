// Top-two Thompson sampling: for content that ages before a test ends. It shifts traffic to what does well
// while it still learns, and every share is known, so off-policy estimates stay possible.
//
//   std::vector<double> shares = TopTwoShares(arms, {}, random);     // [arms], adds up to 1, each at least
//   .01
//
// Russo: Simple Bayesian Algorithms for Best-Arm Identification, Operations Research 68 (2020), section 3.
#pragma once
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace waymark {

// Beta(1 + successes, 1 + failures) is the posterior of an arm's rate.
struct BanditArm {
  double successes = 0, failures = 0;
};

struct TopTwoOptions {
  double best_share = 0.5;  // how often the best of a draw is played rather than its challenger
  double floor = 0.01;      // of each arm; at most 1 / arms
  int draws = 10000;        // what shares are estimated from
};

// `uniform` gives numbers in [0, 1). Deterministic in them.
std::vector<double> TopTwoShares(absl::Span<const BanditArm> arms, const TopTwoOptions& options,
                                 absl::FunctionRef<double()> uniform);

}  // namespace waymark
