// What the catalogue says of candidates beside the user's history: shared categories, title words, years,
// age.
//
//   ContentSignals signals(&catalog);
//   signals.Fill(context, absl::MakeSpan(candidates));
//
// With H the history, oldest first, and cat(i) the set of item i's category values:
//   category_affinity        m(cat(candidate)) / m(all), where m(c) counts the items of H that have c;
//                            NaN where H or the candidate has no categories
//   category_affinity_last5  the same over the last 5 of H
//   title_overlap            max over the last 10 of H of |A and B| / |A or B|, A and B the title words
//                            (Jaccard 1901); NaN where the candidate has no title or none of those 10 has
//   year                     Catalog::ReadYears
//   year_distance            |year - median year of the last 20 of H| (of an even number: the middle two's
//                            mean)
//   item_age                 log(1 + days) from the item's first write or first event, whichever is earlier,
//   to
//                            context.now; 0 when that lies ahead; NaN when neither is known
#pragma once
#include <functional>

#include "absl/time/time.h"
#include "candidates/candidate_source.h"
#include "catalog/catalog.h"

namespace waymark {

// When items were first named by an event: one time for each, the infinite future where none is known.
// Thread-safe.
using FirstEventTimes =
    std::function<void(absl::Span<const ItemOrdinal> items, absl::Span<absl::Time> times)>;

// Thread-safe.
class ContentSignals : public SignalProvider {
 public:
  explicit ContentSignals(const Catalog* catalog, FirstEventTimes first_events = nullptr)
      : catalog_(catalog), first_events_(std::move(first_events)) {}
  void Fill(const RequestContext& context, absl::Span<Candidate> candidates) const override;

 private:
  void FillAges(absl::Time now, absl::Span<const ItemOrdinal> items, absl::Span<Candidate> candidates) const;

  const Catalog* catalog_;
  FirstEventTimes first_events_;
};

}  // namespace waymark
