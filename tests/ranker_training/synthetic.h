// Small worlds with a known rule, for the ranker to find.
#pragma once
#include <filesystem>
#include <random>
#include <string>

#include "candidates/item_directory.h"
#include "training/ranker/ranker_trainer.h"
#include "training/ranker/ranking_list_builder.h"

namespace waymark::tests {

// Items 0 .. end-1 with the ids "item-0" ...; item i has the one category i % categories (none: no content).
class SyntheticDirectory : public ItemDirectory {
 public:
  SyntheticDirectory(ItemOrdinal end, uint32_t categories) : end_(end), categories_(categories) {}
  std::optional<ItemOrdinal> Find(std::string_view id) const override {
    const std::string text(id);
    if (text.rfind("item-", 0) != 0) return std::nullopt;
    const auto item = static_cast<ItemOrdinal>(std::stoul(text.substr(5)));
    if (item >= end_) return std::nullopt;
    return item;
  }
  std::vector<std::string> Ids(absl::Span<const ItemOrdinal> items) const override {
    std::vector<std::string> ids;
    for (ItemOrdinal item : items) ids.push_back("item-" + std::to_string(item));
    return ids;
  }
  ItemOrdinal End() const override { return end_; }
  bool Live(ItemOrdinal item) const override { return item < end_; }
  void Content(absl::Span<const ItemOrdinal> items,
               std::vector<std::vector<uint64_t>>* hashes) const override {
    hashes->assign(items.size(), {});
    for (size_t i = 0; i < items.size() && categories_ > 0; ++i) {
      (*hashes)[i] = {0x9E3779B97F4A7C15ull * (items[i] % categories_ + 1)};
    }
  }

 private:
  ItemOrdinal end_;
  uint32_t categories_;
};

enum class Rule {
  kLargestFeature,      // the target has the largest transition score
  kCategoryOfLastItem,  // the target alone shares its category with the newest event
  kCategoryOfQuery,     // the target alone is of the category that the query names
};

struct World {
  std::vector<RequestContext> contexts;
  std::vector<std::vector<Candidate>> candidates;
  std::vector<ItemOrdinal> targets;
};

// `lists` decisions over the items [first, end), ten candidates each, of ten categories.
inline World MakeWorld(Rule rule, size_t lists, ItemOrdinal first, ItemOrdinal end, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform;
  World world;
  for (size_t l = 0; l < lists; ++l) {
    const uint32_t wanted = random() % 10;
    auto item_of = [&](uint32_t category) {
      return first + (random() % ((end - first) / 10)) * 10 + category;
    };
    RequestContext context;
    context.now = absl::FromUnixSeconds(1000000 + static_cast<int64_t>(l));
    for (int h = 0; h < 3; ++h) {
      HistoryEvent event;
      event.item = item_of(h == 2 ? wanted : random() % 10);
      event.type = event_code::kClick;
      context.history.push_back(event);
    }
    if (rule == Rule::kCategoryOfQuery) context.query = "kind" + std::to_string(wanted);
    std::vector<Candidate> candidates(10);
    size_t target = 0;
    for (uint32_t c = 0; c < 10; ++c) {
      candidates[c].item = item_of(c);
      Set(candidates[c].signals, Signal::kTransitionScore, uniform(random));
      Set(candidates[c].signals, Signal::kPopularityScore, uniform(random));
      const bool better = Get(candidates[c].signals, Signal::kTransitionScore) >
                          Get(candidates[target].signals, Signal::kTransitionScore);
      if (rule == Rule::kLargestFeature ? better : c == wanted) target = c;
    }
    world.targets.push_back(candidates[target].item);
    std::shuffle(candidates.begin(), candidates.end(), random);
    world.contexts.push_back(std::move(context));
    world.candidates.push_back(std::move(candidates));
  }
  return world;
}

inline RankingLists ListsOf(const World& world) {
  RankingLists lists(FeatureTable::Current().size(), {});
  RankingListBuilder builder(&FeatureTable::Current(), &lists);
  for (size_t i = 0; i < world.targets.size(); ++i) {
    const ItemOrdinal target = world.targets[i];
    (void)builder.AddList(world.contexts[i], world.candidates[i], absl::MakeConstSpan(&target, 1), {},
                          world.contexts[i].now, i + 1);
  }
  return lists;
}

// Share of lists whose best candidate is the target.
inline double FirstPlaces(const std::vector<std::vector<float>>& scores, const RankingLists& lists) {
  double hits = 0;
  for (size_t i = 0; i < lists.size(); ++i) {
    const auto best = std::max_element(scores[i].begin(), scores[i].end()) - scores[i].begin();
    hits += lists[i].gains[static_cast<size_t>(best)] > 0;
  }
  return hits / static_cast<double>(lists.size());
}

// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "waymark-ranker-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace waymark::tests
