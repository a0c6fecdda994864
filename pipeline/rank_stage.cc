#include "pipeline/rank_stage.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rank/text_score.h"

namespace waymark {
namespace {

// (x - mean) / deviation over the finite values; 0 where there is none or all are equal.
std::vector<double> ZScores(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  size_t count = 0;
  for (double v : values) {
    if (!std::isfinite(v)) continue;
    sum += v;
    squares += v * v;
    ++count;
  }
  std::vector<double> out(values.size(), 0.0);
  if (count < 2) return out;
  const double mean = sum / count;
  const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
  if (deviation < 1e-12) return out;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) out[i] = (values[i] - mean) / deviation;
  }
  return out;
}

}  // namespace

void FillSignals(const RequestContext& context, absl::Span<const SignalProvider* const> providers,
                 std::vector<Candidate>* candidates) {
  for (const SignalProvider* provider : providers) provider->Fill(context, absl::MakeSpan(*candidates));
}

absl::StatusOr<std::vector<RankedCandidate>> RankCandidates(const Ranker& ranker,
                                                            const RequestContext& context,
                                                            std::vector<Candidate> candidates,
                                                            const RankStageOptions& options,
                                                            Deadline deadline) {
  std::vector<RankedCandidate> ranked;
  if (candidates.empty()) return ranked;
  auto scores = ranker.Score(context, candidates, options.explain, deadline);
  if (!scores.ok()) return scores.status();

  const size_t n = candidates.size();
  std::vector<double> final_scores(scores->engagement.begin(), scores->engagement.end());
  const bool words_decide = options.search && !ranker.knows_queries();
  if (words_decide) {
    const std::vector<double> words = TextScores(candidates), taste = ZScores(final_scores);
    for (size_t i = 0; i < n; ++i) final_scores[i] = words[i] + options.search_ranker_weight * taste[i];
  }
  ranked.resize(n);
  for (size_t i = 0; i < n; ++i) {
    RankedCandidate& out = ranked[i];
    candidates[i].score = scores->engagement[i];
    out.score = final_scores[i];
    out.heads["engagement"] = scores->engagement[i];
    const float keyword = Get(candidates[i].signals, Signal::kKeywordScore);
    if (std::isfinite(keyword)) out.heads["keyword"] = keyword;
    if (options.explain && i < scores->explanations.size())
      out.explanation = std::move(scores->explanations[i]);
    out.candidate = std::move(candidates[i]);
  }
  std::sort(ranked.begin(), ranked.end(), [](const RankedCandidate& a, const RankedCandidate& b) {
    return a.score != b.score ? a.score > b.score : a.candidate.item < b.candidate.item;
  });
  return ranked;
}

}  // namespace waymark
