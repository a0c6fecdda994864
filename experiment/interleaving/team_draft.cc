#include "experiment/interleaving/team_draft.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace waymark {
namespace {

bool Holds(absl::Span<const DraftedItem> list, ItemOrdinal item) {
  return std::any_of(list.begin(), list.end(),
                     [&](const DraftedItem& drafted) { return drafted.item == item; });
}

struct Player {
  Team team;
  absl::Span<const ItemOrdinal> ranking;
  size_t next = 0;

  void PassTaken(absl::Span<const DraftedItem> list) {
    while (next < ranking.size() && Holds(list, ranking[next])) ++next;
  }
  bool done() const { return next == ranking.size(); }
};

}  // namespace

std::vector<DraftedItem> TeamDraft(absl::Span<const absl::Span<const ItemOrdinal>> rankings, size_t length,
                                   absl::FunctionRef<size_t(size_t)> below) {
  std::vector<DraftedItem> list;
  std::vector<Player> players;
  for (size_t i = 0; i < rankings.size(); ++i) players.push_back({TeamOf(i), rankings[i]});
  std::vector<size_t> order(players.size());
  while (list.size() < length) {
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    const size_t before = list.size();
    for (const size_t turn : order) {
      Player& player = players[turn];
      player.PassTaken(list);
      if (list.size() < length && !player.done())
        list.push_back({player.ranking[player.next++], player.team});
    }
    if (list.size() == before) break;
  }
  return list;
}

std::vector<DraftedItem> TeamDraft(absl::Span<const ItemOrdinal> a, absl::Span<const ItemOrdinal> b,
                                   size_t length, absl::FunctionRef<bool()> coin) {
  return TeamDraft({a, b}, length, [&](size_t) { return coin() ? size_t{1} : size_t{0}; });
}

ListCredit CreditOf(absl::Span<const DraftedItem> list, absl::Span<const ItemOrdinal> clicked) {
  ListCredit credit;
  for (const DraftedItem& drafted : list) {
    if (std::find(clicked.begin(), clicked.end(), drafted.item) == clicked.end()) continue;
    ++(drafted.team == Team::kA ? credit.a : credit.b);
  }
  return credit;
}

}  // namespace waymark
