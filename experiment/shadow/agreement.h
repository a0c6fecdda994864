// How far a version that only scores a copy of the traffic agrees with the one that answers.
//
//   agreement.Add(served_items, shadow_items);
//   agreement.overlap.Mean(), agreement.tau.Mean()
#pragma once
#include "absl/types/span.h"
#include "experiment/statistics/moments.h"
#include "store/ids.h"

namespace waymark {

inline constexpr size_t kOverlapDepth = 10;

// Share of the first ten of one list that are among the first ten of the other; of shorter lists, of the
// shorter.
double OverlapAtTen(absl::Span<const ItemOrdinal> a, absl::Span<const ItemOrdinal> b);
// Kendall's tau over the items that both lists hold, in [-1, 1] (Kendall 1938); 1 with less than two of them.
double RankCorrelation(absl::Span<const ItemOrdinal> a, absl::Span<const ItemOrdinal> b);

struct ShadowAgreement {
  statistics::Moments overlap, tau, latency_ms;
  double errors = 0;

  void Add(absl::Span<const ItemOrdinal> served, absl::Span<const ItemOrdinal> shadow,
           double shadow_latency_ms);
  void AddError() { ++errors; }
};

}  // namespace waymark
