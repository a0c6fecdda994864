// How far a version that only scores copies of the traffic agrees with the one that answers.
//
//   AddCopy(served, copy, &sums);
//   sums.overlap_sum / (sums.copies.answers() - sums.copies.errors())
#pragma once
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "experiment/decisions/guardrail.h"
#include "store/ids.h"
#include "waymark/storage/experiments.pb.h"

namespace waymark {

inline constexpr size_t kOverlapDepth = 10;

// Share of the first ten of one list that are among the first ten of the other; of shorter lists, of the
// shorter.
double OverlapAtTen(absl::Span<const ItemOrdinal> a, absl::Span<const ItemOrdinal> b);
// Kendall's tau over the items that both lists hold, in [-1, 1] (Kendall 1938); none with less than two.
std::optional<double> RankCorrelation(absl::Span<const ItemOrdinal> a, absl::Span<const ItemOrdinal> b);

// An answer, or what became of its copy.
struct ShadowAnswer {
  ServedAnswer measured;
  std::vector<ItemOrdinal> items;
};

// Of one arm.
struct ShadowSums {
  storage::ServedSums copies;  // of the control: the answers themselves
  double overlap_sum = 0;      // over copies without an error
  double tau_sum = 0;          // over copies that share two items or more with the answer
  double correlated = 0;       // how many of them
  double skipped = 0;          // requests that there was no time to copy
};
void AddCopy(const ShadowAnswer& served, const ShadowAnswer& copy, ShadowSums* sums);

storage::ShadowSumsRecord RecordOf(const ShadowSums& sums);
ShadowSums SumsOf(const storage::ShadowSumsRecord& record);

}  // namespace waymark
