// Stage 7: signals are filled for every candidate, whichever source found it; the ranker scores the merged
// list once.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "candidates/candidate_source.h"
#include "rank/ranker.h"
#include "waymark/storage/models.pb.h"

namespace waymark {

struct RankedCandidate {
  Candidate candidate;
  double score = 0;                     // what the list is ordered by
  std::map<std::string, double> heads;  // "engagement", and "keyword" for searches
  std::vector<Contribution> explanation;
};

struct RankStageOptions {
  bool search = false;  // a list whose items all match the query
  bool explain = false;
  double search_ranker_weight = 0;
};

// Fills signals by all providers, in order. Signals that are set already are kept.
void FillSignals(const RequestContext& context, absl::Span<const SignalProvider* const> providers,
                 std::vector<Candidate>* candidates);

// Best first; ties by ordinal. A search under a ranker that never saw a query is ordered by
// text score (rank/text_score.h) + search_ranker_weight * z(ranker score), so that words decide and taste
// breaks near ties.
absl::StatusOr<std::vector<RankedCandidate>> RankCandidates(const Ranker& ranker,
                                                            const RequestContext& context,
                                                            std::vector<Candidate> candidates,
                                                            const RankStageOptions& options,
                                                            Deadline deadline);

}  // namespace waymark
