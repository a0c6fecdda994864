// The seam that every way of finding candidates implements: keyword, nearest vectors, co-visited, popular,
// ... A new source is one file and one registration.
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "candidates/candidate.h"
#include "candidates/deadline.h"
#include "candidates/request_context.h"

namespace waymark {

struct SourceAnswer {
  std::vector<ScoredItem> items;  // best first; ties by ordinal
  bool complete = true;           // false: cut short by the deadline
  int64_t total = -1;             // how many match in all; -1: the source does not count
  bool total_exact = true;
  // In no order, when the request asks for all matches and the source counts them: also those that the filter
  // leaves out.
  std::vector<ScoredItem> matches;
  std::vector<std::string> left_out;  // words of the query that need not match, since there were too few hits
};

// Thread-safe: many requests call one source at once.
class CandidateSource {
 public:
  virtual ~CandidateSource() = default;
  virtual SourceId id() const = 0;
  // Whether the request has what this source needs (a query, a history, a context item).
  virtual bool Applies(const RequestContext& context) const = 0;
  virtual absl::StatusOr<SourceAnswer> Find(const RequestContext& context, size_t limit,
                                            Deadline deadline) const = 0;
};

// Fills signals of candidates, whichever source found them, so that the ranker sees the same for all.
// Thread-safe.
class SignalProvider {
 public:
  virtual ~SignalProvider() = default;
  virtual void Fill(const RequestContext& context, absl::Span<Candidate> candidates) const = 0;
};

}  // namespace waymark
