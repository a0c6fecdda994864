// What can be counted from histories: windowed co-visitation, transitions from the last item, decayed
// popularity. One object per collection, updated live in log order; or built at once from Interactions for
// training and evaluation.
//
//   BehaviourCounts counts({});
//   counts.AddAll(interactions);
//   counts.CoVisited(last_items, 100, allowed, excluded);
//
// Thread-safe: many readers beside one writer. Memory is bounded: at most `neighbours` pairs are kept for an
// item.
#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "candidates/candidate.h"
#include "candidates/request_context.h"
#include "recommend/interactions.h"

namespace waymark {

struct BehaviourCountsOptions {
  int window = 5;               // pairs at a distance of at most this
  double distance_decay = 0.8;  // weight of a pair at distance k: decay^(k-1)
  double reverse_weight = 0.3;  // the same pair the other way round
  double query_decay = 0.8;     // weight of the item of age a in the query history
  int query_items = 10;
  size_t neighbours = 512;
  absl::Duration popularity_half_life = absl::Hours(24 * 30);
};

class BehaviourCounts {
 public:
  explicit BehaviourCounts(const BehaviourCountsOptions& options);
  ~BehaviourCounts();

  // One more event: `before` is the user's history until then (oldest first; only its last `window` items
  // matter).
  void Add(absl::Span<const ItemOrdinal> before, ItemOrdinal item, absl::Time time);
  void AddAll(const Interactions& interactions);

  // Best first, ties by ordinal.
  std::vector<ScoredItem> CoVisited(const RequestContext& context, size_t limit) const;
  std::vector<ScoredItem> Transitions(const RequestContext& context, size_t limit) const;
  std::vector<ScoredItem> Popular(const RequestContext& context, size_t limit) const;
  // Fills the co-visitation, transition, popularity and count signals.
  void Fill(const RequestContext& context, absl::Span<Candidate> candidates) const;

  // Durable form with magic, version and checksum; `position`: how far the log has been taken in.
  absl::Status Save(const std::filesystem::path& file, LogOffset position) const;
  static absl::StatusOr<std::unique_ptr<BehaviourCounts>> Open(const std::filesystem::path& file,
                                                               const BehaviourCountsOptions& options,
                                                               LogOffset* position);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace waymark
