#include "rank/text_score.h"

#include <cstdio>
namespace waymark {

double TitleIsQuery(const Candidate& candidate) {
  return Get(candidate.signals, Signal::kKeywordTitleMatch) == 1.f ? kTitleIsQuery : 0;
}

std::vector<double> TextScores(absl::Span<const Candidate> candidates) {
  std::vector<double> sums;
  for (const Candidate& candidate : candidates) sums.push_back(TitleIsQuery(candidate));
  ListColumn column;
  for (const auto& [signal, weight] : kTextWeights) {
    column.Read(candidates, signal);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += weight * column.Z(i);
  }
  for (double& sum : sums) sum /= kTextWeights[0].second;
  return sums;
}

}  // namespace waymark
