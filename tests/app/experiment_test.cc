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

TEST_CASE("what the figures call for, a page of the report, layers: on a folder") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, tests::kFilms).code == 0);
  for (const char* id : {"r1", "r2"}) {
    REQUIRE(sandbox.Run({"release", "create", "--id", id, "--source", "popularity", "--data", "d"}).code ==
            0);
  }
  CHECK(sandbox.Json(
            {"experiment", "layer", "put", "ranking", "--holdout", ".1", "--data", "d"})["holdout"] == .1);
  const auto made = sandbox.Json({"experiment",    "create",     "--id",   "x",
                                  "--arm",         "control=r1", "--arm",  "new=r2",
                                  "--event",       "click",      "--any",  "--hypothesis",
                                  "more <clicks>", "--mode",     "bandit", "--layer",
                                  "ranking",       "--slot",     "0",      ".5",
                                  "--data",        "d",          "--by",   "ann"});
  CHECK(made["mode"] == "BANDIT");
  CHECK(made["slot_end"] == .5);
  CHECK(made["metrics"][0]["kind"] == "PROPORTION");
  REQUIRE(sandbox.Run({"experiment", "start", "x", "--data", "d"}).code == 0);
  CHECK_THAT(sandbox.Run({"experiment", "layer", "list", "--data", "d"}).out,
             Catch::Contains("layer ranking: holdout 10%, experiments x"));
  CHECK(sandbox.Run({"experiment", "layer", "delete", "ranking", "--data", "d"}).code == 1);
  const Ran decided = sandbox.Run({"experiment", "decide", "x", "--dry-run", "--data", "d"});
  CHECK(decided.code == 0);
  CHECK_THAT(decided.out, Catch::StartsWith("nothing is to be decided yet"));
  CHECK_THAT(decided.out, Catch::Contains("missing for the ramp: min_exposures"));
  REQUIRE(sandbox.Run({"experiment", "report", "x", "--html", "page.html", "--data", "d"}).code == 0);
  const std::string page = sandbox.Read("page.html");
  CHECK_THAT(page, Catch::StartsWith("<!doctype html>"));
  CHECK_THAT(page, Catch::Contains("more &lt;clicks&gt;"));
  for (const char* outside : {"http:", "https:", "<script", "src=", "@import", "<link"}) {
    CHECK_THAT(page, !Catch::Contains(outside));
  }
  CHECK(sandbox.Run({"experiment", "report", "x", "--html", "nowhere/page.html", "--data", "d"}).code == 1);
}

TEST_CASE("what another policy would have earned is told from a file of decisions") {
  Sandbox sandbox;
  sandbox.Write("log.csv", "click,p,q\n1,.5,.25\n0,.25,.5\n1,.5,.5\n");
  const auto answer = sandbox.Json({"experiment", "offpolicy", "--file", "log.csv", "--reward", "click",
                                    "--propensity", "p", "--policy", "q"});
  CHECK(answer["units"] == "3");
  CHECK(answer["estimates"][0]["value"].get<double>() == Approx(1.5 / 3));
  CHECK(answer["estimates"][1]["value"].get<double>() == Approx(1.5 / 3.5));
  const Ran wrong = sandbox.Run({"experiment", "offpolicy", "--file", "log.csv", "--reward", "clicks",
                                 "--propensity", "p", "--policy", ".1"});
  CHECK(wrong.code == 1);
  CHECK_THAT(wrong.err,
             Catch::Contains("there is no column 'clicks'") && Catch::Contains("the file has click, p, q"));
  // As pandas writes its index: a column without a name. What nothing asks for may hold anything.
  sandbox.Write("pandas.csv", ",click,p,q,note\n0,True,.5,.25,1\n1,False,.25,.5,2\n2,True,.5,.5,x\n");
  const auto same = sandbox.Json({"experiment", "offpolicy", "--file", "pandas.csv", "--reward", "click",
                                  "--propensity", "p", "--policy", "q"});
  CHECK(same["estimates"] == answer["estimates"]);
  sandbox.Write("holes.csv", "click,p\n1,.5\nnan,.5\n");
  CHECK_THAT(sandbox
                 .Run({"experiment", "offpolicy", "--file", "holes.csv", "--reward", "click", "--propensity",
                       "p", "--policy", ".5"})
                 .err,
             Catch::Contains("line 3: 'click' (--reward) is 'nan', which is no number"));
  CHECK(sandbox
            .Run({"experiment", "offpolicy", "--file", "log.csv", "--reward", "click", "--propensity", "p",
                  "--policy", "q", "--share", "new=1"})
            .code == 2);
  CHECK(sandbox.Run({"experiment", "offpolicy", "--file", "log.csv"}).code == 2);
  CHECK(sandbox.Run({"experiment", "offpolicy"}).code == 2);
}

TEST_CASE("content slots are put, shown and taken back on a folder") {
  Sandbox sandbox;
  const auto slot = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "slot");
    arguments.insert(arguments.end(), {"--data", "d"});
    return sandbox.Run(arguments);
  };
  REQUIRE(slot({"put", "hero", "spring", R"({"image": "/spring.png"})"}).code == 0);
  REQUIRE(
      slot({"put", "hero", "dutch", R"({"payload": {"image": "/nl.png"}, "targeting": "country = \"nl\""})"})
          .code == 0);
  CHECK_THAT(slot({"get", "hero"}).out, Catch::StartsWith("nothing is shown here"));
  CHECK_THAT(slot({"activate", "hero", "spring"}).out, Catch::StartsWith("slot hero shows spring"));
  CHECK_THAT(slot({"activate", "hero", "dutch"}).out,
             Catch::Contains("where that is not valid or not meant: spring"));
  CHECK_THAT(slot({"get", "hero", "--context", "country=nl"}).out, Catch::StartsWith("variant dutch: "));
  CHECK_THAT(slot({"get", "hero"}).out, Catch::StartsWith("variant spring: "));
  CHECK_THAT(slot({"rollback", "hero"}).out, Catch::StartsWith("slot hero shows spring"));
  CHECK_THAT(slot({"list"}).out, Catch::Contains("spring"));
  CHECK_THAT(slot({"list", "hero"}).out, Catch::Contains("country = \"nl\""));
  CHECK(slot({"delete", "hero", "spring"}).code == 1);
  CHECK(slot({"delete", "hero", "dutch"}).code == 0);
  CHECK(slot({"put", "hero", "winter", "snow"}).code == 2);
  const Ran no_payload = slot({"put", "hero", "winter", R"({"targeting": "country = \"nl\""})"});
  CHECK(no_payload.code == 2);
  CHECK_THAT(no_payload.err, Catch::Contains("it has 'targeting' and no 'payload'"));
  REQUIRE(slot({"put", "hero", "gold", R"({"payload": {"image": "/gold.png"}, "targeting": "level > 3",
      "targeting_attributes": [{"name": "level", "type": "INTEGER"}]})"})
              .code == 0);
  REQUIRE(slot({"activate", "hero", "gold"}).code == 0);
  CHECK_THAT(slot({"get", "hero", "--context", "level=4"}).out, Catch::StartsWith("variant gold: "));
  CHECK_THAT(slot({"get", "hero", "--context", "level=3"}).out, Catch::StartsWith("variant spring: "));
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
  const auto looks = sandbox.Json(
      {"experiment", "power", "--variance", "100", "--effect", ".3", "--power", ".85", "--looks", "5"});
  REQUIRE(looks["looks"].size() == 5);
  CHECK(looks["looks"][1]["z"].get<double>() == Approx(3.3569).epsilon(1e-4));
}

}  // namespace
}  // namespace waymark
