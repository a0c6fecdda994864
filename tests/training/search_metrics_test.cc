#include "training/evaluation/search_metrics.h"

#include <cmath>

#include "tests/support/catch.h"

namespace waymark {
namespace {

using Catch::Matchers::WithinAbs;
using List = std::vector<std::string>;

// The example of the Wikipedia article "Discounted cumulative gain": six documents with grades 3 2 3 0 1 2,
// and two more judged documents of grades 3 and 2 that the list lacks: DCG 6.861, IDCG 8.740, nDCG 0.785.
const List kList = {"d1", "d2", "d3", "d4", "d5", "d6"};
const Grades kGrades = {{"d1", 3}, {"d2", 2}, {"d3", 3}, {"d4", 0},
                        {"d5", 1}, {"d6", 2}, {"d7", 3}, {"d8", 2}};

TEST_CASE("nDCG with linear gain equals the published example") {
  CHECK_THAT(NdcgAt(6, kList, kGrades, Gain::kLinear), WithinAbs(0.785, 0.0005));
}

TEST_CASE("nDCG with exponential gain equals the value worked by hand") {
  // Gains 7 3 7 0 1 3: 7 + 3/log2(3) + 7/2 + 0 + 1/log2(6) + 3/log2(7) = 13.848264.
  // Ideal 7 7 7 3 3 3: 7 + 7/log2(3) + 7/2 + 3/log2(5) + 3/log2(6) + 3/log2(7) = 18.437718.
  CHECK_THAT(NdcgAt(6, kList, kGrades, Gain::kExponential), WithinAbs(13.848264 / 18.437718, 1e-7));
}

TEST_CASE("a perfect list has nDCG 1 with either gain") {
  const Grades grades = {{"a", 2}, {"b", 1}};
  const List list = {"a", "b", "c"};
  CHECK(NdcgAt(10, list, grades, Gain::kLinear) == 1.0);
  CHECK(NdcgAt(10, list, grades, Gain::kExponential) == 1.0);
}

TEST_CASE("average precision is the mean of the precisions at relevant places") {
  // Manning, Raghavan and Schuetze's way of counting: relevant at 1, 3, 6 of four relevant ones:
  // (1/1 + 2/3 + 3/6 + 0) / 4.
  const Grades grades = {{"a", 1}, {"c", 1}, {"f", 1}, {"missing", 1}};
  const List list = {"a", "b", "c", "d", "e", "f"};
  CHECK_THAT(AveragePrecision(list, grades), WithinAbs((1.0 + 2.0 / 3 + 0.5) / 4, 1e-12));
  CHECK_THAT(PrecisionAt(10, list, grades), WithinAbs(0.3, 1e-12));
  CHECK_THAT(RecallAt(100, list, grades), WithinAbs(0.75, 1e-12));
  CHECK_THAT(RecallAt(2, list, grades), WithinAbs(0.25, 1e-12));
}

TEST_CASE("the reciprocal rank is that of the first relevant document") {
  const Grades grades = {{"c", 1}, {"d", 2}, {"b", 0}};
  CHECK_THAT(ReciprocalRank(List{"a", "b", "c", "d"}, grades), WithinAbs(1.0 / 3, 1e-12));
  CHECK(ReciprocalRank(List{"a", "b"}, grades) == 0.0);
}

TEST_CASE("a document named twice counts once") {
  const Grades grades = {{"a", 1}, {"b", 1}};
  CHECK_THAT(AveragePrecision(List{"a", "a", "b"}, grades), WithinAbs((1.0 + 2.0 / 3) / 2, 1e-12));
  CHECK_THAT(RecallAt(10, List{"a", "a"}, grades), WithinAbs(0.5, 1e-12));
}

TEST_CASE("negative grades are not relevant and take nothing away") {
  const Grades grades = {{"a", -1}, {"b", 1}};
  CHECK_THAT(NdcgAt(10, List{"a", "b"}, grades, Gain::kExponential), WithinAbs(1 / std::log2(3.0), 1e-12));
  CHECK_THAT(AveragePrecision(List{"a", "b"}, grades), WithinAbs(0.5, 1e-12));
}

TEST_CASE("queries without a relevant document are left out of the means and counted") {
  const Judgements judgements = {
      {"q1", {{"a", 1}}}, {"q2", {{"a", 0}}}, {"q3", {{"a", 2}, {"b", 1}}}, {"q4", {{"x", 1}}}};
  const SearchRun run = {{"q1", {"b", "a"}}, {"q2", {"a"}}, {"q3", {"a", "b"}}, {"unjudged", {"a"}}};
  const SearchMetrics m = EvaluateSearch(judgements, run, {});
  CHECK(m.queries == 3);                   // q1, q3, and q4 that the run lacks
  CHECK(m.queries_without_relevant == 2);  // q2 and the unjudged one
  CHECK_THAT(m.map, WithinAbs((0.5 + 1 + 0) / 3, 1e-12));
  CHECK_THAT(m.mrr, WithinAbs((0.5 + 1 + 0) / 3, 1e-12));
  CHECK_THAT(m.ndcg_at_10, WithinAbs((1 / std::log2(3.0) + 1 + 0) / 3, 1e-12));
  CHECK_THAT(m.precision_at_10, WithinAbs((0.1 + 0.2 + 0) / 3, 1e-12));
  CHECK_THAT(m.recall_at_100, WithinAbs(2.0 / 3, 1e-12));
}

TEST_CASE("without judgements every mean is 0 over no query") {
  const SearchMetrics m = EvaluateSearch({}, {{"q", {"a"}}}, {});
  CHECK(m.queries == 0);
  CHECK(m.map == 0);
  CHECK(m.queries_without_relevant == 1);
}

}  // namespace
}  // namespace waymark
