#include "training/recipe/recipe.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr size_t kFewestTrain = 100, kFewestValidation = 20;

// At most `limit`, evenly spaced.
std::vector<Decision> Spaced(std::vector<Decision> decisions, size_t limit) {
  if (decisions.size() <= limit) return decisions;
  std::vector<Decision> spaced;
  for (size_t k = 0; k < limit; ++k) spaced.push_back(decisions[k * decisions.size() / limit]);
  return spaced;
}

// Those that the arms keep, at most `limit`.
std::vector<Decision> Taken(const TrainingLog& log, std::vector<Decision> decisions,
                            const RecipeOptions& options, size_t limit) {
  if (options.arms != nullptr) {
    std::erase_if(decisions, [&](const Decision& decision) {
      return !options.arms->Keeps(log.users[decision.user], AnswerOf(log, decision));
    });
  }
  return Spaced(std::move(decisions), limit);
}

}  // namespace

absl::StatusOr<Recipe> ServingRecipe(const TrainingLog& log, const RecipeOptions& options) {
  if (options.max_lists < kFewestTrain) {
    return absl::InvalidArgumentError(absl::StrCat("the list limit (--max-lists) is ", options.max_lists,
                                                   "; a ranker takes ", kFewestTrain, " lists or more"));
  }
  Recipe recipe;
  recipe.final.held_out = 0;
  const absl::Time ranker_from = log.ReceivedQuantile(1 - options.ranker_share);
  const absl::Time validation_from = log.ReceivedQuantile(1 - options.validation_share);
  const size_t validation_limit = std::max<size_t>(kFewestValidation, options.max_lists / 4);
  recipe.first.cut.received_before = ranker_from;
  constexpr size_t kAllDecisions = std::numeric_limits<size_t>::max();
  recipe.train.decisions = Taken(log, DecisionsBetween(log, ranker_from, validation_from, kAllDecisions),
                                 options, options.max_lists);
  recipe.validation.decisions =
      Taken(log, DecisionsBetween(log, validation_from, absl::InfiniteFuture(), kAllDecisions), options,
            validation_limit);
  const size_t known = log.Known(recipe.first.cut).items.size();
  const bool by_time = recipe.train.decisions.size() >= kFewestTrain &&
                       recipe.validation.decisions.size() >= kFewestValidation &&
                       known >= log.events.size() / 2;
  if (!by_time) {
    recipe.first.cut = {.newest_of_each_user = 2};
    recipe.train.decisions = Taken(log, LastDecisions(log, 2), options, options.max_lists);
    recipe.validation.decisions = Taken(log, LastDecisions(log, 1), options, validation_limit);
    recipe.as_known = false;
    if (recipe.train.decisions.size() < kFewestTrain ||
        recipe.validation.decisions.size() < kFewestValidation) {
      return absl::FailedPreconditionError(absl::StrCat(
          "too little to learn from: ", log.users.size(), " users with ", log.events.size(), " events give ",
          recipe.train.decisions.size(), " decisions to train a ranker on and ",
          recipe.validation.decisions.size(), " to validate it; it takes ", kFewestTrain, " and ",
          kFewestValidation, ". Import more events; the weighted sum serves meanwhile."));
    }
  }
  recipe.train.view = recipe.validation.view = recipe.first.cut;
  return recipe;
}

Recipe LeaveOneOutRecipe(const TrainingLog& log, const RecipeOptions& options) {
  Recipe recipe;
  recipe.as_known = false;
  recipe.first = {.cut = {.newest_of_each_user = 2}, .held_out = 1};
  recipe.final = {.cut = {.newest_of_each_user = 1}, .held_out = 1};
  recipe.train.view = {.newest_of_each_user = 3};
  recipe.train.decisions = Spaced(LastDecisions(log, 3), options.max_lists);
  recipe.validation.view = {.newest_of_each_user = 2};
  recipe.validation.decisions = Spaced(LastDecisions(log, 2), options.max_lists);
  recipe.validation.with_final = true;
  return recipe;
}

}  // namespace waymark
