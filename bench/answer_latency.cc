// How long a search and a feed take in this process, stage by stage: medians over real queries (titles of the
// catalogue, one to three words) and real users.
//
//   build/release/bin/answer_latency DIR [requests]
#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "pipeline/engine.h"

namespace waymark {
namespace {

double Quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const size_t place = std::min(values.size() - 1, static_cast<size_t>(share * values.size()));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[place];
}

void Measure(const char* name, Collection* collection, const std::vector<PipelineRequest>& requests) {
  std::vector<double> totals;
  std::map<std::string, std::vector<double>> stages;
  size_t results = 0;
  for (int round = 0; round < 2; ++round) {  // the first warms caches
    totals.clear(), stages.clear();
    for (const PipelineRequest& request : requests) {
      const absl::Time start = absl::Now();
      auto answer = collection->Run(request, Deadline::Never());
      totals.push_back(absl::ToDoubleMilliseconds(absl::Now() - start));
      if (!answer.ok()) {
        std::fprintf(stderr, "%s: %s\n", name, answer.status().ToString().c_str());
        return;
      }
      results += answer->items.size();
      for (const Timing& timing : answer->timings) {
        stages[timing.stage].push_back(absl::ToDoubleMilliseconds(timing.time));
      }
    }
  }
  std::printf("%-8s %zu requests  median %.3f ms  p95 %.3f  p99 %.3f  (%.1f results)\n", name,
              requests.size(), Quantile(totals, .5), Quantile(totals, .95), Quantile(totals, .99),
              static_cast<double>(results) / 2 / requests.size());
  for (const auto& [stage, times] : stages) {
    if (stage != "total") std::printf("  %-14s median %.3f ms\n", stage.c_str(), Quantile(times, .5));
  }
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: answer_latency DIR [requests]\n");
    return 2;
  }
  const size_t count = argc > 2 ? std::stoul(argv[2]) : 500;
  EngineOptions options;
  options.create = false;
  options.keep_suggestions = false;
  auto engine = Engine::Open(argv[1], options);
  if (!engine.ok()) {
    std::fprintf(stderr, "%s\n", engine.status().ToString().c_str());
    return 1;
  }
  auto collection = (*engine)->OpenCollection({}, false);
  if (!collection.ok() || !(*collection)->CatchUp(Deadline::Never()).ok()) return 1;
  const Scope scope = (*collection)->scope();
  Store& store = (*engine)->store();

  std::mt19937 random(7);
  std::vector<std::string> titles, users;
  (void)store.ForEachItem(scope, 0, [&](ItemOrdinal, const storage::ItemRecord& record) {
    const auto title = record.fields().fields().find("title");
    if (title != record.fields().fields().end()) titles.push_back(title->second.string_value());
    return true;
  });
  (void)store.ForEachUser(scope, 0, [&](UserNumber, const storage::UserRecord& record) {
    if (!record.visitor()) users.push_back(record.id());
    return true;
  });
  std::vector<PipelineRequest> searches, feeds;
  for (size_t n = 0; n < count; ++n) {
    if (!titles.empty()) {
      std::vector<std::string> words =
          absl::StrSplit(titles[random() % titles.size()], ' ', absl::SkipEmpty());
      words.resize(std::min<size_t>(words.size(), 1 + random() % 3));
      PipelineRequest search;
      for (const std::string& word : words) search.query += word + " ";
      searches.push_back(std::move(search));
    }
    if (!users.empty()) {
      PipelineRequest feed;
      feed.kind = RequestKind::kRecommend;
      feed.user_id = users[random() % users.size()];
      feeds.push_back(std::move(feed));
    }
  }
  std::printf("release %s\n", (*collection)->active_release().c_str());
  if (!searches.empty()) Measure("search", *collection, searches);
  if (!feeds.empty()) Measure("feed", *collection, feeds);
  return 0;
}

}  // namespace
}  // namespace waymark

int main(int argc, char** argv) { return waymark::Main(argc, argv); }
