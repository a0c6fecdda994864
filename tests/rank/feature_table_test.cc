#include "rank/feature_table.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "tests/support/catch.h"

namespace waymark {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

size_t Column(const FeatureTable& table, const std::string& name) {
  const std::vector<std::string> names = table.Names();
  const auto at = std::find(names.begin(), names.end(), name);
  REQUIRE(at != names.end());
  return static_cast<size_t>(at - names.begin());
}

std::vector<float> ColumnOf(const RequestContext& context, const std::vector<Candidate>& candidates,
                            const std::string& name) {
  const FeatureTable& table = FeatureTable::Current();
  std::vector<float> rows(candidates.size() * table.size());
  table.Compute(context, candidates, absl::MakeSpan(rows));
  std::vector<float> values;
  for (size_t i = 0; i < candidates.size(); ++i) {
    values.push_back(rows[i * table.size() + Column(table, name)]);
  }
  return values;
}

std::vector<Candidate> WithSignal(Signal signal, const std::vector<float>& values) {
  std::vector<Candidate> candidates(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    candidates[i].item = static_cast<ItemOrdinal>(i);
    Set(candidates[i].signals, signal, values[i]);
  }
  return candidates;
}

void CheckColumn(const std::vector<float>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(1e-6));
}

TEST_CASE("the features of three candidates are those worked out by hand") {
  RequestContext context;
  // Mean .5, population deviation sqrt(((.2-.5)^2 + (.8-.5)^2) / 2) = .3; the third is missing.
  const auto scores = WithSignal(Signal::kRetrieverScore, {0.2f, 0.8f, kMissing});
  CheckColumn(ColumnOf(context, scores, "retriever_score"), {0.2, 0.8, 0});
  CheckColumn(ColumnOf(context, scores, "retriever_score.present"), {1, 1, 0});
  CheckColumn(ColumnOf(context, scores, "retriever_score.z"), {-1, 1, 0});
  // Ranks 2, 1, and one past the end: 3.
  CheckColumn(ColumnOf(context, scores, "retriever_score.rank"), {-0.6931472, 0, -1.0986123});

  const auto odds = WithSignal(Signal::kTransitionScore, {0.0f, 0.5f, kMissing});
  // ln(.0001) = -9.2103404, ln(.5001) = -.6929472.
  CheckColumn(ColumnOf(context, odds, "transition_score.log"), {-9.2103404, -0.6929472, -9.2103404});
}

TEST_CASE("ties share the middle rank") {
  RequestContext context;
  const auto ties = WithSignal(Signal::kPopularityScore, {3.f, 7.f, 3.f, 3.f});
  // 7 is first; the three 3s share (2 + 3 + 4) / 3 = 3.
  CheckColumn(ColumnOf(context, ties, "popularity_score.rank"), {-1.0986123, 0, -1.0986123, -1.0986123});
}

TEST_CASE("a signal that is the same for all candidates has no z-score") {
  RequestContext context;
  CheckColumn(ColumnOf(context, WithSignal(Signal::kLogCount, {0.1f, 0.1f, 0.1f}), "log_count.z"), {0, 0, 0});
}

TEST_CASE("the fusion score is normalised within the list") {
  RequestContext context;
  std::vector<Candidate> candidates(3);
  candidates[0].fusion_score = 1;
  candidates[1].fusion_score = 2;
  candidates[2].fusion_score = 3;
  CheckColumn(ColumnOf(context, candidates, "fusion.z"), {-1.2247449, 0, 1.2247449});
}

TEST_CASE("request features count history and query words") {
  RequestContext context;
  context.history.resize(6);
  context.query = "star  WARS";
  const std::vector<Candidate> one(1);
  CheckColumn(ColumnOf(context, one, "request.history_length"), {1.9459101});  // ln 7
  CheckColumn(ColumnOf(context, one, "request.has_query"), {1});
  CheckColumn(ColumnOf(context, one, "request.query_words"), {1.0986123});  // ln 3
}

std::vector<Candidate> RandomCandidates(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<Candidate> candidates(n);
  for (size_t i = 0; i < n; ++i) {
    candidates[i].item = static_cast<ItemOrdinal>(i);
    candidates[i].fusion_score = normal(random);
    for (float& s : candidates[i].signals) {
      if (random() % 4 != 0) s = std::round(normal(random) * 8) / 8;  // with ties
    }
  }
  return candidates;
}

TEST_CASE("the order of the candidates does not matter") {
  const FeatureTable& table = FeatureTable::Current();
  RequestContext context;
  std::vector<Candidate> candidates = RandomCandidates(60, 1);
  std::vector<float> rows(60 * table.size()), shuffled(60 * table.size());
  table.Compute(context, candidates, absl::MakeSpan(rows));
  std::vector<size_t> order(60);
  for (size_t i = 0; i < 60; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(2));
  std::vector<Candidate> moved;
  for (size_t i : order) moved.push_back(candidates[i]);
  table.Compute(context, moved, absl::MakeSpan(shuffled));
  for (size_t i = 0; i < 60; ++i) {
    for (size_t c = 0; c < table.size(); ++c) {
      REQUIRE(shuffled[i * table.size() + c] == Approx(rows[order[i] * table.size() + c]).margin(1e-6));
    }
  }
}

TEST_CASE("every feature is finite, whatever the signals are") {
  const FeatureTable& table = FeatureTable::Current();
  const float infinity = std::numeric_limits<float>::infinity(), huge = std::numeric_limits<float>::max();
  const float odd[] = {kMissing, infinity, -infinity, huge, -huge, 0, -0.f, 1e-45f, -5};
  RequestContext context;
  context.query = std::string("\xff\xfe \0 word", 10);
  for (size_t n : {1, 2, 9}) {
    std::vector<Candidate> candidates(n);
    for (size_t i = 0; i < n; ++i) {
      candidates[i].fusion_score = odd[i];
      for (size_t s = 0; s < kSignalCount; ++s) candidates[i].signals[s] = odd[(i + s) % 9];
    }
    std::vector<float> rows(n * table.size(), kMissing);
    table.Compute(context, candidates, absl::MakeSpan(rows));
    for (float v : rows) REQUIRE(std::isfinite(v));
  }
  table.Compute(context, {}, {});  // no candidates, no rows
}

TEST_CASE("a table made from its own names is the same table") {
  const auto again = FeatureTable::FromNames(FeatureTable::Current().Names());
  REQUIRE(again.ok());
  CHECK(again->sha256() == FeatureTable::Current().sha256());
  CHECK(again->sha256().size() == 64);
  const auto two = FeatureTable::FromNames({"log_count.z", "retriever_score"});
  REQUIRE(two.ok());
  CHECK(two->size() == 2);
  CHECK(two->sha256() != again->sha256());
  // The order of columns is part of the definition.
  CHECK(two->sha256() != FeatureTable::FromNames({"retriever_score", "log_count.z"})->sha256());
}

TEST_CASE("names that no table has are refused by name") {
  const auto unknown = FeatureTable::FromNames({"log_count.z", "moon_phase", "tide"});
  REQUIRE(absl::IsInvalidArgument(unknown.status()));
  CHECK(std::string(unknown.status().message()).find("moon_phase, tide") != std::string::npos);
  CHECK(absl::IsInvalidArgument(FeatureTable::FromNames({"log_count.z", "log_count.z"}).status()));
  CHECK(absl::IsInvalidArgument(FeatureTable::FromNames({}).status()));
}

TEST_CASE("three hundred candidates take well under a millisecond") {
  const FeatureTable& table = FeatureTable::Current();
  RequestContext context;
  const std::vector<Candidate> candidates = RandomCandidates(300, 3);
  std::vector<float> rows(300 * table.size());
  double best = 1;  // seconds; the least of many, so that a busy machine does not count
  for (int i = 0; i < 200; ++i) {
    const auto start = std::chrono::steady_clock::now();
    table.Compute(context, candidates, absl::MakeSpan(rows));
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  INFO("ms: " << best * 1e3);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(NDEBUG)
  CHECK(best < 0.3e-3);
#endif
}

}  // namespace
}  // namespace waymark
