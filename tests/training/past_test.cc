#include <set>

#include "tests/support/catch.h"
#include "training/past/decision.h"
#include "training/past/training_log.h"
#include "training/recipe/recipe.h"

namespace waymark {
namespace {

// Two users; times in seconds, items as named. User 0 has an event that came late: it happened at 20, and was
// received at 35.
TrainingLog SmallLog() {
  TrainingLog log;
  LogOffset offset = 0;
  const auto add = [&](ItemOrdinal item, int64_t time, int64_t received) {
    TrainingEvent event;
    event.item = item;
    event.type = 2;
    event.time_us = time * 1000000;
    event.received_us = received * 1000000;
    event.offset = ++offset;
    log.events.push_back(event);
  };
  add(1, 10, 10), add(2, 20, 35), add(3, 30, 30), add(4, 40, 40);
  log.users.push_back(7), log.starts.push_back(log.events.size());
  add(3, 15, 15), add(1, 25, 25), add(3, 45, 45);
  log.users.push_back(9), log.starts.push_back(log.events.size());
  log.item_end = 5;
  return log;
}

std::vector<ItemOrdinal> HistoryItems(const RequestContext& context) {
  std::vector<ItemOrdinal> items;
  for (const HistoryEvent& event : context.history) items.push_back(event.item);
  return items;
}

TEST_CASE("a cut leaves out the newest of each user, and what was received later") {
  const TrainingLog log = SmallLog();
  CHECK(log.Known({}).items == std::vector<ItemOrdinal>{1, 2, 3, 4, 3, 1, 3});
  CHECK(log.Known({.newest_of_each_user = 2}).items == std::vector<ItemOrdinal>{1, 2, 3});
  CHECK(log.Known({.received_before = absl::FromUnixSeconds(31)}).items ==
        std::vector<ItemOrdinal>{1, 3, 3, 1});
  CHECK(log.Known({.newest_of_each_user = 10}).items.empty());
}

TEST_CASE("a decision sees what its user had done, not what came later") {
  const TrainingLog log = SmallLog();
  const RequestContext context = ContextOf(log, {}, {0, 2}, Repeats::kMask, false);
  CHECK(HistoryItems(context) == std::vector<ItemOrdinal>{1, 2});
  CHECK(context.excluded == std::vector<ItemOrdinal>{1, 2});
  CHECK(context.user == 7);
  CHECK(context.now == absl::FromUnixSeconds(30));
}

TEST_CASE("as it was known, an event that came late is not in the history yet") {
  const TrainingLog log = SmallLog();
  CHECK(HistoryItems(ContextOf(log, {}, {0, 2}, Repeats::kMask, true)) == std::vector<ItemOrdinal>{1});
  CHECK(HistoryItems(ContextOf(log, {}, {0, 3}, Repeats::kMask, true)) == std::vector<ItemOrdinal>{1, 2, 3});
}

TEST_CASE("repeats may be asked for") {
  CHECK(ContextOf(SmallLog(), {}, {1, 2}, Repeats::kAllow, false).excluded.empty());
}

TEST_CASE("decisions: the newest of each user, and those of a time in its order") {
  const TrainingLog log = SmallLog();
  const auto last = LastDecisions(log, 1);
  REQUIRE(last.size() == 2);
  CHECK(AnswerOf(log, last[0]).item == 4);
  CHECK(AnswerOf(log, last[1]).item == 3);
  CHECK(LastDecisions(log, 3).size() == 1);  // the other user has nothing before the third newest
  const auto between = DecisionsBetween(log, absl::FromUnixSeconds(20), absl::FromUnixSeconds(41), 10);
  REQUIRE(between.size() == 4);  // at 20, 25, 30, 40
  CHECK(AnswerOf(log, between[1]).item == 1);
  CHECK(DecisionsBetween(log, absl::FromUnixSeconds(20), absl::FromUnixSeconds(41), 2).size() == 2);
}

TEST_CASE("the serving recipe teaches from what its view has not seen") {
  TrainingLog log;
  LogOffset offset = 0;
  for (int u = 0; u < 100; ++u) {
    for (int i = 0; i < 20; ++i) {
      TrainingEvent event;
      event.item = static_cast<ItemOrdinal>((u + i) % 50);
      event.time_us = event.received_us = (i * 1000 + u) * int64_t{1000000};
      event.offset = ++offset;
      log.events.push_back(event);
    }
    log.users.push_back(u + 1), log.starts.push_back(log.events.size());
  }
  const auto recipe = ServingRecipe(log, {});
  REQUIRE(recipe.ok());
  std::set<LogOffset> seen;
  for (LogOffset o : log.Known(recipe->train.view).offsets) seen.insert(o);
  for (const auto* plan : {&recipe->train, &recipe->validation}) {
    CHECK(plan->decisions.size() >= 20);
    for (const Decision& d : plan->decisions) CHECK(!seen.contains(AnswerOf(log, d).offset));
  }
  // Validation comes after training.
  CHECK(AnswerOf(log, recipe->train.decisions.back()).time_us <
        AnswerOf(log, recipe->validation.decisions.front()).time_us);
  CHECK(log.Known(recipe->final.cut).items.size() == log.events.size());
}

TEST_CASE("too little data is refused with what there is") {
  const auto recipe = ServingRecipe(SmallLog(), {});
  REQUIRE(absl::IsFailedPrecondition(recipe.status()));
  CHECK(std::string(recipe.status().message()).find("2 users with 7 events") != std::string::npos);
}

TEST_CASE("leave-one-out: lists, validation and test each hide one event more") {
  const TrainingLog log = SmallLog();
  const Recipe recipe = LeaveOneOutRecipe(log, {});
  REQUIRE(recipe.train.decisions.size() == 1);
  CHECK(AnswerOf(log, recipe.train.decisions[0]).item == 2);
  CHECK(log.Known(recipe.train.view).items == std::vector<ItemOrdinal>{1});
  REQUIRE(recipe.validation.decisions.size() == 2);
  CHECK(AnswerOf(log, recipe.validation.decisions[0]).item == 3);
  CHECK(log.Known(recipe.validation.view).items == std::vector<ItemOrdinal>{1, 2, 3});
}

}  // namespace
}  // namespace waymark
