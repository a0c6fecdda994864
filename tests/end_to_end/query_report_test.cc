#include "pipeline/query_report.h"

#include <map>
#include <random>

#include "tests/end_to_end/open_engine.h"

namespace waymark::tests {
namespace {

storage::ServeRecord Served(const std::string& query, int64_t total, int64_t milliseconds = 1,
                            int64_t second = 0) {
  storage::ServeRecord record;
  record.set_query(query);
  record.set_total_size(total);
  record.set_took_us(milliseconds * 1000);
  record.set_time_us(second * 1'000'000);
  return record;
}

TEST_CASE("queries are counted by their words, with when they were last seen and how long they took") {
  QueryReporter reporter({});
  reporter.Add(Served("Blade  Runer", 0, 10, 100));
  reporter.Add(Served("blade runer!", 0, 30, 50));
  reporter.Add(Served("heat", 12, 1, 60));
  reporter.Add(Served("zzz", 0, 1, 70));
  reporter.Add(Served("", 0));
  storage::ServeRecord feed;
  feed.set_query("a feed with a query");
  reporter.Add(feed);
  const QueryReport report = reporter.Finish();
  CHECK(report.searches == 4);
  CHECK(report.matching == 3);
  REQUIRE(report.queries.size() == 2);
  CHECK(report.queries[0].query == "blade runer");
  CHECK(report.queries[0].count == 2);
  CHECK(report.queries[0].count_error == 0);
  CHECK(report.queries[0].last_seen == absl::FromUnixSeconds(100));
  CHECK(report.queries[0].total_time == absl::Milliseconds(40));
  CHECK(report.queries[0].longest == absl::Milliseconds(30));
  CHECK(report.queries[1].query == "zzz");
}

TEST_CASE("few hits and slow ones are kinds of their own, and the time has two ends") {
  const auto queries = [](const QueryReportRequest& request) {
    QueryReporter reporter(request);
    for (int second = 0; second < 10; ++second) {
      reporter.Add(Served("q" + std::to_string(second), second, 20 * second, second));
    }
    std::vector<std::string> names;
    for (const auto& query : reporter.Finish().queries) names.push_back(query.query);
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(queries({}) == Names{"q0"});
  CHECK(queries({.kind = QueryReportKind::kFewHits}) == Names{"q1", "q2", "q3"});
  CHECK(queries({.kind = QueryReportKind::kFewHits, .few_hits = 1}) == Names{"q1"});
  CHECK(queries({.kind = QueryReportKind::kSlow}) == Names{"q9", "q8", "q7", "q6", "q5"});
  CHECK(queries({.kind = QueryReportKind::kSlow, .limit = 1, .slow = absl::Milliseconds(21)}) == Names{"q9"});
  CHECK(queries({.kind = QueryReportKind::kFewHits,
                 .from = absl::FromUnixSeconds(2),
                 .to = absl::FromUnixSeconds(3)}) == Names{"q2"});
}

TEST_CASE(
    "with fewer places than queries, counts are never too small, and too large by no more than is said") {
  std::mt19937 random(3);
  QueryReporter reporter({.limit = 20}, 100);
  std::map<std::string, int64_t> exact;
  for (int i = 0; i < 20'000; ++i) {
    // Half of them are 10 queries, the rest 5,000.
    const std::string query =
        random() % 2 == 0 ? "hot" + std::to_string(random() % 10) : "rare" + std::to_string(random() % 5000);
    ++exact[query];
    reporter.Add(Served(query, 0));
  }
  const QueryReport report = reporter.Finish();
  CHECK(report.matching == 20'000);
  REQUIRE(report.queries.size() == 20);
  for (size_t i = 0; i < 10; ++i) CHECK(report.queries[i].query.substr(0, 3) == "hot");
  for (const ReportedQuery& query : report.queries) {
    CHECK(query.count >= exact[query.query]);
    CHECK(query.count - query.count_error <= exact[query.query]);
  }
}

TEST_CASE("searches that were served are reported, without those of erased users and of other collections") {
  OpenEngine engine;
  Collection* films = engine.In();
  MustWrite(films, {Film("1", "Star Wars", "Sci-Fi", 1), Film("2", "Heat", "Crime", 2)});
  MustWrite(films, {View("u1", "1"), View("u2", "1")});
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  const auto search = [&](const std::string& user, const std::string& query) {
    PipelineRequest request = SearchFor(query);
    request.user_id = user;
    REQUIRE(films->Run(request, Deadline::Never()).ok());
  };
  search("u1", "qqqq wwww");
  search("u1", "heat");
  search("u2", "qqqq");
  search("u2", "qqqq");
  const auto report = [&](Collection* collection) {
    auto made = collection->ReportQueries({}, Deadline::Never());
    REQUIRE(made.ok());
    std::map<std::string, int64_t> counts;
    for (const auto& query : made->queries) counts[query.query] = query.count;
    return counts;
  };
  using Counts = std::map<std::string, int64_t>;
  CHECK(report(films) == Counts{{"qqqq", 2}, {"qqqq wwww", 1}});
  CHECK(report(engine.In({"default", "other"})).empty());
  engine.Reopen();
  films = engine.In();
  CHECK(report(films) == Counts{{"qqqq", 2}, {"qqqq wwww", 1}});
  MustWrite(films, {DeleteUser{"u1"}});
  CHECK(report(films) == Counts{{"qqqq", 2}});
  const auto status = films->ReportQueries({.limit = -1}, Deadline::Never()).status();
  CHECK(status.message() == "limit: is -1; it takes 0 (for 20) to 1000");
}

}  // namespace
}  // namespace waymark::tests
