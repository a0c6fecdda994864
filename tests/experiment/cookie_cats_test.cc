// The Cookie Cats test: 90,189 players, a gate at level 30 (control) or 40.
#include <fstream>

#include "absl/strings/str_split.h"
#include "experiment/statistics/sample_ratio.h"
#include "experiment/statistics/welch.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"

namespace waymark::statistics {
namespace {

TEST_CASE("Cookie Cats: retention after 7 days differs, and the sample ratio warns without blocking") {
  if (!tests::HaveData("cookie-cats-ab")) return;
  std::ifstream file(tests::SharedData() / "cookie-cats-ab" / "cookie_cats.csv");
  std::string line;
  std::getline(file, line);
  Moments gate_30, gate_40;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = absl::StrSplit(line, ',');
    REQUIRE(cells.size() == 5);
    (cells[1] == "gate_30" ? gate_30 : gate_40).Add(cells[4].starts_with("TRUE") ? 1 : 0);
  }
  CHECK(gate_30.n + gate_40.n == 90189);
  const auto effect = EffectOf(MeanOf(gate_30), MeanOf(gate_40), Scale::kAbsolute);
  REQUIRE(effect.ok());
  const TestResult result = WelchTest(*effect, .05);
  CHECK(result.estimate < 0);
  CHECK(result.p_value == Approx(.00155).epsilon(0).margin(1e-5));
  const auto ratio = CheckSampleRatio({gate_30.n, gate_40.n}, {.5, .5});
  REQUIRE(ratio.ok());
  CHECK(ratio->p_value == Approx(.0086).epsilon(0).margin(5e-5));
  CHECK(ratio->verdict == SampleRatioVerdict::kWarns);
}

}  // namespace
}  // namespace waymark::statistics
