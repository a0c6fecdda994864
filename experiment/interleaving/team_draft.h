// Team-draft interleaving: two rankings play on one list, and clicks say which the reader prefers. Both are
// seen by the same person at the same time, so it needs far fewer impressions than a split does.
//
//   auto list = TeamDraft(ranking_a, ranking_b, 10, coin);
//   Team winner = CreditOf(list, clicked).Winner();
//
// Radlinski, Kurup, Joachims: How Does Clickthrough Data Reflect Retrieval Quality?, CIKM 2008, section 4.2.
#pragma once
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "store/ids.h"

namespace waymark {

enum class Team { kNone, kA, kB };

struct DraftedItem {
  ItemOrdinal item = kNoItem;
  Team team = Team::kNone;
};

// In each round a coin (true: A) says who picks first; each picks its best item that is not in the list yet.
// A team that has none left sits out.
std::vector<DraftedItem> TeamDraft(absl::Span<const ItemOrdinal> a, absl::Span<const ItemOrdinal> b,
                                   size_t length, absl::FunctionRef<bool()> coin);

struct ListCredit {
  int a = 0, b = 0;  // clicks
  Team Winner() const { return a > b ? Team::kA : b > a ? Team::kB : Team::kNone; }
};
// Each item counts once, however often it was clicked; items that are not in the list count nothing.
ListCredit CreditOf(absl::Span<const DraftedItem> list, absl::Span<const ItemOrdinal> clicked);

}  // namespace waymark
