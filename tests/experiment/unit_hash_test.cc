#include "experiment/assignment/unit_hash.h"

#include <cmath>
#include <string>
#include <vector>

#include "experiment/statistics/sample_ratio.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using enum HashVersion;

double PValue(const std::vector<double>& counts, const std::vector<double>& weights) {
  const auto ratio = statistics::CheckSampleRatio(counts, weights);
  REQUIRE(ratio.ok());
  return ratio->p_value;
}

TEST_CASE("GrowthBook's second hash gives its published values") {
  CHECK(HashUnit(kGrowthBookV2, "seed", "a") == Approx(.0505));
  CHECK(HashUnit(kGrowthBookV2, "seed", "b") == Approx(.2696));
  CHECK(HashUnit(kGrowthBookV2, "foo", "ab") == Approx(.2575));
  CHECK(HashUnit(kGrowthBookV2, "89123klj", "8952klfjas09ujkasdf") == Approx(.124));
  CHECK(HashUnit(kGrowthBookV2, "90850943850283058242805", "123") == Approx(.7516));
}

TEST_CASE("GrowthBook's first hash gives its published values") {
  CHECK(HashUnit(kGrowthBookV1, "", "b") == Approx(.077));
  CHECK(HashUnit(kGrowthBookV1, "b", "a") == Approx(.946));
  CHECK(HashUnit(kGrowthBookV1, "ef", "d") == Approx(.652));
  CHECK(HashUnit(kGrowthBookV1, "asdf", "8952klfjas09ujk") == Approx(.549));
  CHECK(HashUnit(kGrowthBookV1, "", "123") == Approx(.011));
}

TEST_CASE("PlanOut's choices are its published ones") {
  CHECK(PlanOutChoice("test_salt.foo", "4", 2) == 1);  // of (a, b): b
  CHECK(PlanOutChoice("test_salt.bar", "4", 2) == 0);
  CHECK(PlanOutChoice("test_salt.baz", "4", 2) == 0);
  CHECK(PlanOutChoice("test_salt.foo", "4", 8) == 7);
}

TEST_CASE(
    "Units fall evenly, and independently for two seeds, under v2 and PlanOut; v1 is the control that "
    "fails") {
  constexpr int kUnits = 200000, kCells = 20;
  for (const HashVersion version : {kGrowthBookV2, kPlanOut, kGrowthBookV1}) {
    std::vector<double> cells(kCells, 0), pairs(4, 0);
    for (int i = 0; i < kUnits; ++i) {
      const std::string unit = std::to_string(i);
      const double one = HashUnit(version, "experiment-1", unit),
                   other = HashUnit(version, "experiment-2", unit);
      ++cells[static_cast<size_t>(one * kCells) % kCells];
      ++pairs[(one < .5 ? 0 : 2) + (other < .5 ? 0 : 1)];
    }
    const double independent = PValue(pairs, {1, 1, 1, 1});
    if (version == kGrowthBookV1) {
      CHECK(independent < 1e-6);
    } else {
      CHECK(PValue(cells, std::vector<double>(kCells, 1)) > .001);
      CHECK(independent > .001);
    }
  }
}

}  // namespace
}  // namespace waymark
