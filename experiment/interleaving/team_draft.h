// Team-draft interleaving: rankings play on one list, and clicks say which the reader prefers. All are seen
// by the same person at the same time, so it needs far fewer impressions than a split does.
//
//   auto list = TeamDraft(ranking_a, ranking_b, 10, coin);
//   Team winner = CreditOf(list, clicked).Winner();
//
// Radlinski, Kurup, Joachims: How Does Clickthrough Data Reflect Retrieval Quality?, CIKM 2008, section 4.2;
// of more than two (multileaving): Schuth, Sietsma, Whiteson, Lefortier, de Rijke: Multileaved Comparisons
// for Fast Online Evaluation, CIKM 2014, algorithm 2.
#pragma once
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "store/ids.h"

namespace waymark {

// Of the rankings in their order: the third is TeamOf(2), and so on.
enum class Team { kNone, kA, kB };
constexpr Team TeamOf(size_t ranking) { return static_cast<Team>(ranking + 1); }
constexpr size_t RankingOf(Team team) { return static_cast<size_t>(team) - 1; }

struct DraftedItem {
  ItemOrdinal item = kNoItem;
  Team team = Team::kNone;
};

// In each round the teams pick in an order of its own, every order alike likely; each picks its best item
// that is not in the list yet. below(n): a number from 0 to n - 1.
std::vector<DraftedItem> TeamDraft(absl::Span<const absl::Span<const ItemOrdinal>> rankings, size_t length,
                                   absl::FunctionRef<size_t(size_t n)> below);

// Of two: in each round a coin (true: A) says who picks first; each picks its best item that is not in the
// list yet. A team that has none left sits out.
std::vector<DraftedItem> TeamDraft(absl::Span<const ItemOrdinal> a, absl::Span<const ItemOrdinal> b,
                                   size_t length, absl::FunctionRef<bool()> coin);

struct ListCredit {
  int a = 0, b = 0;  // clicks
  Team Winner() const { return a > b ? Team::kA : b > a ? Team::kB : Team::kNone; }
};
// Each item counts once, however often it was clicked; items that are not in the list count nothing.
ListCredit CreditOf(absl::Span<const DraftedItem> list, absl::Span<const ItemOrdinal> clicked);

}  // namespace waymark
