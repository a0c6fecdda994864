// Finds the items that came last: what nobody could have touched yet. Also what an empty catalogue of events
// shows.
#pragma once
#include "candidates/candidate_source.h"
#include "catalog/catalog.h"
#include "store/store.h"

namespace waymark {

// Ordinals are given out in the order in which items come, so the newest items are found from the end.
// Thread-safe.
class FreshSource : public CandidateSource {
 public:
  FreshSource(const Store* store, Scope scope, const Catalog* catalog)
      : store_(store), scope_(scope), catalog_(catalog) {}
  SourceId id() const override { return SourceId::kFresh; }
  bool Applies(const RequestContext&) const override { return true; }
  // Looks at no more than kMaxLook ordinals. The score is the ordinal's place from the end, as 1 / place.
  absl::StatusOr<SourceAnswer> Find(const RequestContext& context, size_t limit,
                                    Deadline deadline) const override;

  static constexpr size_t kMaxLook = 100000;

 private:
  const Store* store_;
  Scope scope_;
  const Catalog* catalog_;
};

}  // namespace waymark
