// What can be counted from histories: windowed co-visitation, transitions from the last item, decayed
// popularity. One object per collection, updated live in log order; or built at once from Interactions for
// training and evaluation.
//
//   BehaviourCounts counts({});
//   counts.AddAll(interactions);
//   counts.CoVisited(context, 100);
//
// Co-visitation of (i, j) is the sum of decay^(k-1) over all places where j comes k <= window events after i
// in a history, plus reverse_weight times the same for j before i. Asked for a history, an item scores
//   sum over the newest query_items events h of query_decay^age(h) w(h, j) / sqrt(count(h) count(j)).
// Transition: P(j | last) = direct successions last -> j over all successions from last.
//
// The counts are those of the histories as sets of events in event-time order, whatever the order in which
// events arrive: AddBetween() takes a late event in and corrects the distances that it has changed.
//
// Thread-safe: many readers beside one writer. Memory is bounded: at most `neighbours` pairs are kept for an
// item (pair_rows.h says which go).
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
  // The same for an event that came late: `after` is what the user did after it (oldest first; only its
  // first `window` items matter).
  void AddBetween(absl::Span<const ItemOrdinal> before, ItemOrdinal item, absl::Span<const ItemOrdinal> after,
                  absl::Time time);
  // Events are numbered for the recent count by their offsets; by their times where offsets are equal.
  void AddAll(const Interactions& interactions);

  // Best first, ties by ordinal. All honour context.allowed and context.excluded, and look at everything
  // that is counted before they cut to `limit`.
  std::vector<ScoredItem> CoVisited(const RequestContext& context, size_t limit) const;
  // Co-visited with any of `anchors`; the score is the largest, not the sum.
  std::vector<ScoredItem> CoVisitedWith(absl::Span<const ItemOrdinal> anchors, const RequestContext& context,
                                        size_t limit) const;
  // The score is the probability with the popularity as a tie-breaker; see Fill.
  std::vector<ScoredItem> Transitions(const RequestContext& context, size_t limit) const;
  std::vector<ScoredItem> Popular(const RequestContext& context, size_t limit) const;

  // Fills the co-visitation, transition, popularity and count signals. Co-visitation and transition signals
  // are 0 where nothing was counted, missing without a history; kPopularityScore is missing without an event.
  // kTransitionScore = (n + p) / N: n of the last item's N successions lead to the item, p < 1 is its share
  // of all events. So equal probabilities are ordered by popularity, and different ones never swap.
  void Fill(const RequestContext& context, absl::Span<Candidate> candidates) const;
  // Largest co-visitation with an anchor, for each item; 0 where there is none. out: [items].
  void CoVisitation(absl::Span<const ItemOrdinal> anchors, absl::Span<const ItemOrdinal> items,
                    absl::Span<float> out) const;

  uint32_t EventCount(ItemOrdinal item) const;
  // When events first named the items: times[i] of items[i], the infinite future where none did.
  void FirstEvents(absl::Span<const ItemOrdinal> items, absl::Span<absl::Time> times) const;
  // Decayed counts with their prior (popularity_table.h); 0 without an event. out: [items].
  void Popularities(absl::Span<const ItemOrdinal> items, absl::Time now, absl::Span<float> out) const;
  uint64_t event_count() const;
  const BehaviourCountsOptions& options() const;

  // Durable form with magic, version and checksum; `position`: how far the log has been taken in. Must not
  // run beside a writer.
  absl::Status Save(const std::filesystem::path& file, LogOffset position) const;
  // NOT_FOUND, DATA_LOSS; FAILED_PRECONDITION: other options or a newer format.
  static absl::StatusOr<std::unique_ptr<BehaviourCounts>> Open(const std::filesystem::path& file,
                                                               const BehaviourCountsOptions& options,
                                                               LogOffset* position);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace waymark
