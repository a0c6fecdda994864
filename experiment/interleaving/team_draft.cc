#include "experiment/interleaving/team_draft.h"

#include <algorithm>

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

std::vector<DraftedItem> TeamDraft(absl::Span<const ItemOrdinal> a, absl::Span<const ItemOrdinal> b,
                                   size_t length, absl::FunctionRef<bool()> coin) {
  std::vector<DraftedItem> list;
  Player players[2] = {{Team::kA, a}, {Team::kB, b}};
  while (list.size() < length) {
    const size_t first = coin() ? 0 : 1;
    const size_t before = list.size();
    for (const size_t turn : {first, 1 - first}) {
      Player& player = players[turn];
      player.PassTaken(list);
      if (list.size() < length && !player.done())
        list.push_back({player.ranking[player.next++], player.team});
    }
    if (list.size() == before) break;
  }
  return list;
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
