#include "tests/app/program.h"

namespace waymark {
namespace {

using tests::Ran;
using tests::Sandbox;

// Which release serves everybody; empty: none.
std::string Active(const Sandbox& sandbox) {
  const nlohmann::json list = sandbox.Json({"release", "list", "--data", "d"});
  for (const nlohmann::json& release : list["releases"]) {
    if (release["active"] == true) return release["id"];
  }
  return "";
}

TEST_CASE("an experiment goes through its life on a folder, and releases as it is decided") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, tests::kFilms).code == 0);
  for (const char* id : {"r1", "r2"}) {
    REQUIRE(sandbox.Run({"release", "create", "--id", id, "--source", "popularity", "--data", "d"}).code ==
            0);
  }
  REQUIRE(sandbox.Run({"release", "activate", "r1", "--data", "d"}).code == 0);
  const auto step = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "experiment");
    arguments.insert(arguments.end(), {"--data", "d", "--by", "ann"});
    return arguments;
  };
  const auto made =
      sandbox.Json(step({"create", "--id", "x", "--arm", "control=r1", "--arm", "new=r2", "--event", "click",
                         "--hypothesis", "more clicks", "--guardrail", "latency=.2"}));
  CHECK(made["state"] == "DRAFT");
  CHECK(made["arms"][1]["weight"] == .5);
  CHECK(sandbox.Json(step({"start", "x", "--shadow"}))["state"] == "SHADOW");
  const Ran early = sandbox.Run(step({"ramp", "x"}));
  CHECK(early.code == 1);
  CHECK_THAT(early.err, Catch::Contains("copies of requests in the shadow"));
  const auto ramped = sandbox.Json(step({"ramp", "x", "--override", "a test"}));
  CHECK(ramped["state"] == "RUNNING");
  CHECK(ramped["coverage"] == .01);
  const Ran report = sandbox.Run({"experiment", "report", "x", "--data", "d"});
  CHECK(report.code == 0);
  CHECK_THAT(report.out, Catch::Contains("verdict: too few units"));
  CHECK_THAT(report.out, Catch::Contains("conditions set aside: a test"));
  CHECK(sandbox.Json(step({"stop", "x", "--winner", "new", "--override", "a test"}))["state"] == "RELEASED");
  CHECK(Active(sandbox) == "r2");
  CHECK(sandbox.Json(step({"stop", "x", "--roll-back"}))["state"] == "ROLLED_BACK");
  CHECK(Active(sandbox) == "r1");
  CHECK_THAT(sandbox.Run({"experiment", "list", "--data", "d"}).out, Catch::Contains("rolled back"));
  const Ran again = sandbox.Run(step({"start", "x"}));
  CHECK(again.code == 1);
  CHECK_THAT(again.err, Catch::Contains("only a draft starts"));
}

// The numbers of the published tables: tests/experiment/statistics_test.cc has their sources.
TEST_CASE("how many units a test takes is told before it is made") {
  Sandbox sandbox;
  const auto mean =
      sandbox.Json({"experiment", "power", "--variance", "100", "--effect", ".3", "--power", ".85"});
  CHECK(mean["units_a_group"] == 19952);
  CHECK(mean["units"] == 39904);
  const auto share = sandbox.Json({"experiment", "power", "--baseline", ".34", "--effect", ".003", "--power",
                                   ".85", "--units-a-day", "10000"});
  CHECK(std::abs(share["units"].get<double>() - 897343) < 90);
  CHECK(share["days"] == 90);
}

}  // namespace
}  // namespace waymark
