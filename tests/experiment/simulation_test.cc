// Small versions of what bench/experiment_simulations runs at full size.
#include <cmath>
#include <random>

#include "experiment/statistics/confidence_sequence.h"
#include "experiment/statistics/cuped.h"
#include "experiment/statistics/msprt.h"
#include "experiment/statistics/welch.h"
#include "tests/support/catch.h"

namespace waymark::statistics {
namespace {

Effect Difference(const Moments& a, const Moments& b) {
  return *EffectOf(MeanOf(a), MeanOf(b), Scale::kAbsolute);
}

TEST_CASE("Of A/A tests, 5% are found at a fixed horizon; with 100 looks only the plain t finds more") {
  constexpr int kTests = 400, kLooks = 100, kUnitsALook = 20;
  std::mt19937_64 random(3);
  std::exponential_distribution<double> value(1);
  int fixed = 0, peeking = 0, sequence = 0, mixture = 0;
  for (int test = 0; test < kTests; ++test) {
    Moments a, b;
    bool t_found = false, sequence_found = false, mixture_found = false;
    for (int look = 0; look < kLooks; ++look) {
      for (int i = 0; i < kUnitsALook; ++i) a.Add(value(random)), b.Add(value(random));
      const Effect effect = Difference(a, b);
      t_found |= WelchTest(effect, .05).p_value < .05;
      sequence_found |= ConfidenceSequence(effect, {.tuning = 2000}).p_value < .05;
      mixture_found |= Msprt(effect, {.tau = .05}).p_value < .05;
    }
    fixed += WelchTest(Difference(a, b), .05).p_value < .05;
    peeking += t_found, sequence += sequence_found, mixture += mixture_found;
  }
  CHECK(std::abs(fixed / 400.0 - .05) < .033);  // three standard errors
  CHECK(peeking > 100);
  CHECK(sequence <= 20);
  CHECK(mixture <= 20);
}

TEST_CASE("CUPED shrinks the variance by one minus the squared correlation") {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (const double rho : {.3, .6, .9}) {
    PairMoments a, b;
    for (int i = 0; i < 20000; ++i) {
      for (PairMoments* arm : {&a, &b}) {
        const double past = normal(random);
        arm->Add(rho * past + std::sqrt(1 - rho * rho) * normal(random), past);
      }
    }
    PairMoments pooled = a;
    pooled.Merge(b);
    const double theta = CupedTheta(pooled);
    const double shrunk = CupedMean(a, theta).variance / a.y.Variance();
    CHECK(shrunk == Approx(1 - rho * rho).margin(.03));
  }
}

}  // namespace
}  // namespace waymark::statistics
