// What the statistics promise, held against many simulated experiments. Prints the table of
// docs/experiments.md.
//
//   build/release/bin/experiment_simulations [tests]        # 10,000
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "experiment/assignment/unit_hash.h"
#include "experiment/interleaving/preference.h"
#include "experiment/statistics/confidence_sequence.h"
#include "experiment/statistics/cuped.h"
#include "experiment/statistics/distributions.h"
#include "experiment/statistics/msprt.h"
#include "experiment/statistics/power.h"
#include "experiment/statistics/sample_ratio.h"
#include "experiment/statistics/welch.h"

namespace waymark {
namespace {

using namespace statistics;  // NOLINT: this program is about nothing else

Effect Difference(const Moments& a, const Moments& b) {
  return *EffectOf(MeanOf(a), MeanOf(b), Scale::kAbsolute);
}

// A/A: 100 looks of 20 units an arm, exponential values.
void FalsePositives(int tests) {
  std::mt19937_64 random(3);
  std::exponential_distribution<double> value(1);
  int fixed = 0, peeking = 0, sequence = 0, mixture = 0;
  for (int test = 0; test < tests; ++test) {
    Moments a, b;
    bool t_found = false, sequence_found = false, mixture_found = false;
    for (int look = 0; look < 100; ++look) {
      for (int i = 0; i < 20; ++i) a.Add(value(random)), b.Add(value(random));
      const Effect effect = Difference(a, b);
      // Welch's test without its interval, which costs more than the rest of the look.
      t_found |= TwoSidedStudent(effect.estimate / std::sqrt(effect.variance), effect.degrees) < .05;
      sequence_found |= ConfidenceSequence(effect, {.tuning = 2000}).p_value < .05;
      mixture_found |= Msprt(effect, {.tau = .05}).p_value < .05;
    }
    fixed += WelchTest(Difference(a, b), .05).p_value < .05;
    peeking += t_found, sequence += sequence_found, mixture += mixture_found;
  }
  const double scale = 100.0 / tests;
  std::printf("%d A/A tests: false positives at a fixed horizon %.2f%% (5%% +- %.2f)\n", tests, fixed * scale,
              300 * std::sqrt(.05 * .95 / tests));
  std::printf("  with 100 looks: plain t %.2f%%, confidence sequence %.2f%%, mSPRT %.2f%%\n", peeking * scale,
              sequence * scale, mixture * scale);
}

void CupedVariance() {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (const double rho : {.3, .5, .7, .9}) {
    PairMoments a, b;
    for (int i = 0; i < 200000; ++i) {
      for (PairMoments* arm : {&a, &b}) {
        const double past = normal(random);
        arm->Add(rho * past + std::sqrt(1 - rho * rho) * normal(random), past);
      }
    }
    PairMoments pooled = a;
    pooled.Merge(b);
    std::printf("CUPED at correlation %.1f: %.4f of the variance is left (1 - rho^2 = %.4f)\n", rho,
                CupedMean(a, CupedTheta(pooled)).variance / a.y.Variance(), 1 - rho * rho);
  }
}

void Uniformity() {
  constexpr int kUnits = 1000000, kCells = 100;
  const std::pair<HashVersion, const char*> versions[] = {{HashVersion::kGrowthBookV2, "GrowthBook v2"},
                                                          {HashVersion::kPlanOut, "PlanOut"},
                                                          {HashVersion::kGrowthBookV1, "GrowthBook v1"}};
  for (const auto& [version, name] : versions) {
    std::vector<double> cells(kCells, 0), pairs(4, 0);
    for (int i = 0; i < kUnits; ++i) {
      const std::string unit = std::to_string(i);
      const double one = HashUnit(version, "experiment-1", unit),
                   other = HashUnit(version, "experiment-2", unit);
      ++cells[static_cast<size_t>(one * kCells) % kCells];
      ++pairs[(one < .5 ? 0 : 2) + (other < .5 ? 0 : 1)];
    }
    std::printf(
        "%s, a million ids: uniform p %.3f; independent of another experiment p %.3g (same half: %.1f%%)\n",
        name, CheckSampleRatio(cells, std::vector<double>(kCells, 1))->p_value,
        CheckSampleRatio(pairs, {1, 1, 1, 1})->p_value, (pairs[0] + pairs[3]) * 100.0 / kUnits);
  }
}

// Readers look at place p with chance 1/p; B ranks two relevant items first instead of third in a fifth of
// the lists.
class Readers {
 public:
  double Uniform() { return uniform_(random_); }
  std::vector<ItemOrdinal> Clicks(const std::vector<ItemOrdinal>& list) {
    std::vector<ItemOrdinal> clicked;
    for (size_t p = 0; p < list.size(); ++p) {
      const bool looked = Uniform() < 1.0 / static_cast<double>(p + 1);
      if (looked && Uniform() < (list[p] >= 100 ? .4 : .05)) clicked.push_back(list[p]);
    }
    return clicked;
  }
  std::vector<ItemOrdinal> RankingA() const { return {1, 2, 100, 101, 3, 4, 5, 6, 7, 8}; }
  std::vector<ItemOrdinal> RankingB() {
    if (Uniform() < .8) return RankingA();
    return {100, 101, 1, 2, 3, 4, 5, 6, 7, 8};
  }

 private:
  std::mt19937_64 random_{7};
  std::uniform_real_distribution<double> uniform_;
};

void Interleaving() {
  Readers readers;
  Moments credit, clicks_a, clicks_b;
  for (int i = 0; i < 400000; ++i) {
    const auto list =
        TeamDraft(readers.RankingA(), readers.RankingB(), 10, [&] { return readers.Uniform() < .5; });
    std::vector<ItemOrdinal> items;
    for (const DraftedItem& drafted : list) items.push_back(drafted.item);
    const ListCredit one = CreditOf(list, readers.Clicks(items));
    credit.Add(one.b > one.a ? 1 : one.a > one.b ? -1 : 0);
    clicks_a.Add(readers.Clicks(readers.RankingA()).empty() ? 0 : 1);
    clicks_b.Add(readers.Clicks(readers.RankingB()).empty() ? 0 : 1);
  }
  const double interleaved = UnitsPerGroup(
      {.effect = credit.Mean(), .control_variance = credit.Variance(), .treatment_variance = 0});
  const double split = 2 * UnitsPerGroup({.effect = clicks_b.Mean() - clicks_a.Mean(),
                                          .control_variance = clicks_a.Variance(),
                                          .treatment_variance = clicks_b.Variance()});
  std::printf("interleaving needs %.0f lists where a split needs %.0f: %.1f times fewer\n", interleaved,
              split, split / interleaved);
}

}  // namespace
}  // namespace waymark

int main(int argc, char** argv) {
  waymark::FalsePositives(argc > 1 ? std::stoi(argv[1]) : 10000);
  waymark::CupedVariance();
  waymark::Uniformity();
  waymark::Interleaving();
}
