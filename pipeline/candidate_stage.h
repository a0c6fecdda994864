// Stages 5 and 6: asks the sources and merges their lists into one by reciprocal-rank fusion (Cormack,
// Clarke, Büttcher 2009): score(d) = sum over sources of weight / (k + rank of d). Serving, training and
// evaluation all gather candidates here.
//
//   auto gathered = GatherCandidates(context, view.Sources(), plan, {}, deadline);
#pragma once
#include <vector>

#include "absl/types/span.h"
#include "candidates/candidate_source.h"
#include "pipeline/request.h"
#include "waymark/storage/models.pb.h"

namespace waymark {

// The signal that a source's own score is; kCount for sources whose score says nothing (fresh).
Signal SignalOfSource(SourceId id);

struct CandidateLimits {
  int per_source = 0;  // 0: each source's limit in the plan
  int merged = 0;      // 0: the plan's rank_limit
};

struct GatheredCandidates {
  std::vector<Candidate>
      candidates;      // by fusion score, ties by ordinal; signals are still missing but the sources' own
  int64_t total = -1;  // matches of the keyword source; -1 when it did not take part
  bool total_exact = true;
  std::vector<ScoredItem> matches;    // all of the keyword source's, when the context asks for them
  std::vector<std::string> left_out;  // words that the keyword source left out
  std::vector<Degraded> degraded;
  std::vector<Timing> timings;
};

// Sources that the plan does not name, or gives the weight 0, are left out. A source that fails or comes late
// is reported in `degraded`; the others' candidates are returned. Thread-safe.
GatheredCandidates GatherCandidates(const RequestContext& context,
                                    absl::Span<const CandidateSource* const> sources,
                                    const storage::BlendingPlan& plan, const CandidateLimits& limits,
                                    Deadline deadline);

}  // namespace waymark
