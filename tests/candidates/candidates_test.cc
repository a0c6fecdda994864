#include <cmath>
#include <set>

#include "candidates/candidate.h"
#include "candidates/deadline.h"
#include "candidates/request_context.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

TEST_CASE("Every signal has a name of its own that leads back to it") {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kSignalCount; ++i) {
    const auto signal = static_cast<Signal>(i);
    names.insert(SignalName(signal));
    CHECK(FindSignal(SignalName(signal)) == signal);
  }
  CHECK(names.size() == kSignalCount);
  // Names are in model packages: these must not move.
  CHECK(SignalName(Signal::kKeywordScore) == "keyword_score");
  CHECK(SignalName(Signal::kSimilarScore) == "similar_score");
  CHECK(SignalName(Signal::kTransitionSecondLast) == "transition_second_last");
  CHECK(SignalName(Signal::kCosineMaxLast20) == "cosine_max_last20");
  CHECK(SignalName(Signal::kHistoryLength) == "history_length");
  CHECK(SignalName(Signal::kItemAge) == "item_age");
  CHECK(SignalName(Signal::kDecayedEase) == "decayed_ease");
  CHECK_FALSE(FindSignal("nothing").has_value());
  for (const float value : MissingSignals()) CHECK(std::isnan(value));
}

TEST_CASE("Sources keep their names and their bits") {
  CHECK(SourceName(SourceId::kKeyword) == "keyword");
  CHECK(SourceName(SourceId::kRetriever) == "retriever");
  CHECK(SourceName(SourceId::kPopularity) == "popularity");
  CHECK(SourceName(SourceId::kFresh) == "fresh");
  CHECK(SourceName(SourceId::kEase) == "ease");
  CHECK(static_cast<unsigned>(SourceId::kFresh) == 6);
}

TEST_CASE("An item may be shown when it is allowed and not excluded") {
  RequestContext context;
  CHECK(context.MayShow(7));
  context.excluded = {3, 7, 9};
  CHECK_FALSE(context.MayShow(7));
  CHECK(context.MayShow(8));
  context.allowed = std::make_shared<const ItemSet>(ItemSet::Of({3, 8}));
  CHECK(context.MayShow(8));
  CHECK_FALSE(context.MayShow(3));
  CHECK_FALSE(context.MayShow(10));
}

TEST_CASE("A deadline expires when its clock reaches it") {
  FixedClock clock(absl::FromUnixSeconds(100));
  const Deadline deadline = Deadline::After(absl::Seconds(5), &clock);
  CHECK_FALSE(deadline.Expired());
  CHECK(deadline.Remaining() == absl::Seconds(5));
  clock.Set(absl::FromUnixSeconds(105));
  CHECK(deadline.Expired());
  CHECK_FALSE(Deadline::Never().Expired());
}

}  // namespace
}  // namespace waymark
