#include "training/evaluation/search_metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/container/flat_hash_set.h"

namespace waymark {
namespace {

double GainOf(int grade, Gain gain) {
  if (grade <= 0) return 0;
  return gain == Gain::kLinear ? grade : std::exp2(grade) - 1;
}

double Discount(size_t place) { return 1 / std::log2(static_cast<double>(place) + 1); }

int64_t RelevantCount(const Grades& grades) {
  return std::count_if(grades.begin(), grades.end(), [](const auto& entry) { return entry.second > 0; });
}

// Calls visit(place, grade) for each relevant document of the first k places.
void ForEachRelevant(size_t k, absl::Span<const std::string> ranked, const Grades& grades,
                     const std::function<void(size_t place, int grade)>& visit) {
  absl::flat_hash_set<std::string_view> seen;
  for (size_t i = 0; i < std::min(k, ranked.size()); ++i) {
    auto judged = grades.find(ranked[i]);
    if (judged == grades.end() || judged->second <= 0 || !seen.insert(ranked[i]).second) continue;
    visit(i + 1, judged->second);
  }
}

int64_t RelevantWithin(size_t k, absl::Span<const std::string> ranked, const Grades& grades) {
  int64_t found = 0;
  ForEachRelevant(k, ranked, grades, [&](size_t, int) { ++found; });
  return found;
}

}  // namespace

double NdcgAt(size_t k, absl::Span<const std::string> ranked, const Grades& grades, Gain gain) {
  std::vector<int> ideal;
  for (const auto& [document, grade] : grades) {
    if (grade > 0) ideal.push_back(grade);
  }
  std::sort(ideal.begin(), ideal.end(), std::greater<>());
  double best = 0;
  for (size_t i = 0; i < std::min(k, ideal.size()); ++i) best += GainOf(ideal[i], gain) * Discount(i + 1);
  if (best == 0) return 0;
  double reached = 0;
  ForEachRelevant(k, ranked, grades,
                  [&](size_t place, int grade) { reached += GainOf(grade, gain) * Discount(place); });
  return reached / best;
}

double AveragePrecision(absl::Span<const std::string> ranked, const Grades& grades) {
  const int64_t relevant = RelevantCount(grades);
  if (relevant == 0) return 0;
  double sum = 0;
  int64_t found = 0;
  ForEachRelevant(ranked.size(), ranked, grades,
                  [&](size_t place, int) { sum += static_cast<double>(++found) / place; });
  return sum / relevant;
}

double ReciprocalRank(absl::Span<const std::string> ranked, const Grades& grades) {
  double value = 0;
  ForEachRelevant(ranked.size(), ranked, grades, [&](size_t place, int) {
    if (value == 0) value = 1.0 / place;
  });
  return value;
}

double PrecisionAt(size_t k, absl::Span<const std::string> ranked, const Grades& grades) {
  return k == 0 ? 0 : static_cast<double>(RelevantWithin(k, ranked, grades)) / k;
}

double RecallAt(size_t k, absl::Span<const std::string> ranked, const Grades& grades) {
  const int64_t relevant = RelevantCount(grades);
  return relevant == 0 ? 0 : static_cast<double>(RelevantWithin(k, ranked, grades)) / relevant;
}

SearchMetrics EvaluateSearch(const Judgements& judgements, const SearchRun& run,
                             const SearchMetricsOptions& options) {
  SearchMetrics sums;
  for (const auto& [query, grades] : judgements) {
    if (RelevantCount(grades) == 0) {
      ++sums.queries_without_relevant;
      continue;
    }
    auto found = run.find(query);
    absl::Span<const std::string> ranked;
    if (found != run.end()) ranked = found->second;
    ++sums.queries;
    sums.ndcg_at_10 += NdcgAt(10, ranked, grades, options.gain);
    sums.map += AveragePrecision(ranked, grades);
    sums.mrr += ReciprocalRank(ranked, grades);
    sums.precision_at_10 += PrecisionAt(10, ranked, grades);
    sums.recall_at_100 += RecallAt(100, ranked, grades);
  }
  for (const auto& [query, ranked] : run) sums.queries_without_relevant += !judgements.contains(query);
  if (sums.queries == 0) return sums;
  for (double* mean : {&sums.ndcg_at_10, &sums.map, &sums.mrr, &sums.precision_at_10, &sums.recall_at_100}) {
    *mean /= sums.queries;
  }
  return sums;
}

}  // namespace waymark
