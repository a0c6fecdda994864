// Stages 2 to 8 of a request: user state, candidates, ranking, arrangement, paging. No transport, no locks of
// its own.
//
//   Pipeline pipeline(parts);
//   auto answer = pipeline.Run(snapshot, request, deadline);
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "candidates/content_signals.h"
#include "catalog/catalog.h"
#include "curation/live_curation.h"
#include "index/keyword_index.h"
#include "pipeline/fresh_source.h"
#include "pipeline/request.h"
#include "pipeline/signed_token.h"
#include "pipeline/snapshot.h"
#include "recommend/field_vectors.h"
#include "store/store.h"

namespace waymark {

std::string NewRequestId();

// What a finished request leaves for the log of served lists.
class ServedSink {
 public:
  virtual ~ServedSink() = default;
  // Must not block.
  virtual void Served(storage::ServeRecord record) = 0;
  // Whether this request's candidates and features are kept too.
  virtual bool Sampled(const std::string& request_id) const = 0;
  virtual double sample_rate() const = 0;
  // Removes what was served to these users.
  virtual absl::Status EraseUsers(absl::Span<const UserNumber> users) = 0;
  // What was served from a time on, oldest first, until `visit` answers false. Waits for what is on its way
  // to the disk.
  virtual absl::Status ForEach(absl::Time not_before,
                               const std::function<bool(const storage::ServeRecord&)>& visit) = 0;
};

struct PipelineParts {
  const Store* store = nullptr;
  Scope scope;
  const Catalog* catalog = nullptr;
  const KeywordIndex* index = nullptr;
  LiveCuration* curation = nullptr;       // null: none
  const FieldVectors* vectors = nullptr;  // null: none; requests with a vector need them
  FirstEventTimes first_events;
  const Clock* clock = Clock::Real();
  const SigningKey* key = nullptr;
  ServedSink* served = nullptr;  // null: nothing is logged
  // What others asked when they meant this query (suggest/asked_instead.h); empty: nothing. Null: not known.
  std::function<std::string(const std::string& query, Deadline deadline)> asked_instead;
};

// Thread-safe.
class Pipeline {
 public:
  explicit Pipeline(PipelineParts parts);

  // INVALID_ARGUMENT names the field; FAILED_PRECONDITION: an expired page token, a release that is not
  // loaded is NOT_FOUND. Past the deadline: what was found by then, marked degraded; DEADLINE_EXCEEDED only
  // with nothing.
  absl::StatusOr<PipelineResponse> Run(const Snapshot& snapshot, const PipelineRequest& request,
                                       Deadline deadline) const;

 private:
  class Call;
  // Which release answers. NOT_FOUND: the one that the request names is not loaded.
  absl::StatusOr<const LoadedRelease*> ReleaseFor(const Snapshot& snapshot,
                                                  const PipelineRequest& request) const;
  PipelineParts parts_;
  std::unique_ptr<CandidateSource> keyword_;
  // What the keyword index knows of an item, whichever source found it.
  std::unique_ptr<SignalProvider> keyword_signals_;
  FreshSource fresh_;
  ContentSignals content_;
};

}  // namespace waymark
