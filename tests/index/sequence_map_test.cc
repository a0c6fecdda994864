// Values by sequences of terms, against a plain list of them, beside snapshots of before.
#include "index/sequence_map.h"

#include <map>
#include <random>
#include <set>

#include "tests/support/catch.h"

namespace waymark {
namespace {

struct Named {
  std::string id;
};
// Everything falls into three branches at every depth, and most keys into one hash.
struct PoorHash {
  uint64_t operator()(std::string_view key) const { return key.size() % 3; }
};

using Terms = std::vector<std::string>;
using Model = std::set<std::pair<Terms, std::string>>;

template <class Map>
std::vector<std::string> IdsAt(const Map& map, const Terms& terms) {
  typename Map::Walk walk(map);
  for (const std::string& term : terms) {
    if (!walk.Step(term)) return {};
  }
  std::vector<std::string> ids;
  for (const auto& value : walk.values()) ids.push_back(value->id);
  return ids;
}

template <class Map>
void CheckSame(const Map& map, const Model& model, const std::vector<Terms>& all) {
  for (const Terms& terms : all) {
    std::vector<std::string> ids;
    bool begins = false, goes_on = false;
    for (const auto& [held, id] : model) {
      if (held == terms) ids.push_back(id);
      const bool beginning =
          held.size() >= terms.size() && std::equal(terms.begin(), terms.end(), held.begin());
      begins = begins || beginning;
      goes_on = goes_on || (beginning && held.size() > terms.size());
    }
    REQUIRE(IdsAt(map, terms) == ids);
    typename Map::Walk walk(map);
    bool found = true;
    for (const std::string& term : terms) found = found && walk.Step(term);
    REQUIRE(found == begins);
    if (found) REQUIRE(walk.may_go_on() == goes_on);
  }
}

template <class Hash>
void CompareWithModel() {
  std::mt19937 random(11);
  std::vector<Terms> all;
  for (int i = 0; i < 300; ++i) {
    Terms terms(1 + random() % 3);
    for (std::string& term : terms) term = "t" + std::to_string(random() % 12);
    all.push_back(terms);
  }
  using Map = SequenceMap<Named, Hash>;
  Map map, earlier;
  Model model, earlier_model;
  for (int round = 0; round < 30; ++round) {
    if (round % 5 == 0) {
      earlier = map;
      earlier_model = model;
    }
    typename Map::Edit edit(map);
    for (int change = 0; change < 40; ++change) {
      const Terms& terms = all[random() % all.size()];
      const std::string id = "v" + std::to_string(random() % 5);
      const bool there = model.contains({terms, id});
      if (there || random() % 8 == 0) {
        edit.Remove(terms, id);
        model.erase({terms, id});
      } else {
        edit.Add(terms, std::make_shared<const Named>(Named{id}));
        model.insert({terms, id});
      }
    }
    map = edit.Finish();
    CheckSame(map, model, all);
    CheckSame(earlier, earlier_model, all);
  }
  typename Map::Edit edit(map);
  for (const auto& [terms, id] : model) edit.Remove(terms, id);
  CheckSame(edit.Finish(), {}, all);
}

TEST_CASE("a sequence map finds what a list of its sequences holds, and maps of before stay as they were") {
  CompareWithModel<absl::Hash<std::string_view>>();
}

TEST_CASE("sequences of one hash are kept apart") { CompareWithModel<PoorHash>(); }

}  // namespace
}  // namespace waymark
