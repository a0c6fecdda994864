// Places of a feed that go to items drawn at random.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "pipeline/exploration.h"
#include "pipeline/pipeline_call_impl.h"

namespace waymark {

ItemSet Pipeline::Call::MayBeDrawn() const {
  std::vector<ItemOrdinal> not_drawn = context_.excluded;
  for (const CuratedPin& pin : curated_.pins) not_drawn.push_back(pin.item);
  const auto shown = context_.allowed ? context_.allowed : parts_.catalog->LiveItems();
  return ItemSet::Without(*shown, ItemSet::Of(not_drawn));
}

absl::Status Pipeline::Call::DrawPlaces(std::vector<RankedCandidate>* ranked, std::vector<size_t>* order) {
  if (request_.exploration <= 0) return absl::OkStatus();
  if (request_.interleave != nullptr) {
    response_.degraded.push_back(
        {"exploration", "nothing is drawn into a list that an experiment interleaves: it compares releases"});
    return absl::OkStatus();
  }
  const absl::Time start = absl::Now();
  const auto is_pinned = [&](ItemOrdinal item) {
    return std::any_of(curated_.pins.begin(), curated_.pins.end(),
                       [&](const CuratedPin& pin) { return pin.item == item; });
  };
  std::vector<size_t> kept, arranged;  // pins, and what a filter was set aside for, stay
  std::vector<ItemOrdinal> items;
  for (size_t i = 0; i < order->size(); ++i) {
    const size_t at = (*order)[i];
    const ItemOrdinal item = (*ranked)[at].candidate.item;
    if (i >= strict_items_ || is_pinned(item)) {
      kept.push_back(at);
    } else {
      arranged.push_back(at);
      items.push_back(item);
    }
  }
  const std::vector<ExploredPlace> places =
      Explore(items, MayBeDrawn(), request_.exploration, ExplorationSeed(response_.request_id));

  std::vector<Candidate> found;  // by the draw alone
  for (const ExploredPlace& place : places) {
    if (place.ranked == ExploredPlace::kNotRanked) found.emplace_back().item = place.item;
  }
  auto scored = Rank(std::move(found), {});
  if (!scored.ok()) return scored.status();
  absl::flat_hash_map<ItemOrdinal, size_t> at;
  for (RankedCandidate& candidate : *scored) {
    at[candidate.candidate.item] = ranked->size();
    ranked->push_back(std::move(candidate));
  }
  order->clear();
  for (const ExploredPlace& place : places) {
    order->push_back(place.ranked == ExploredPlace::kNotRanked ? at.at(place.item) : arranged[place.ranked]);
    storage::Exploration& explored = explored_[place.item];
    explored.set_propensity(static_cast<float>(place.propensity));
    explored.set_drawn(place.drawn);
    explored.set_as_ranked(place.as_ranked);
    explored.set_random(static_cast<float>(place.random));
  }
  order->insert(order->end(), kept.begin(), kept.end());
  Lap("explore", start);
  return absl::OkStatus();
}

}  // namespace waymark
