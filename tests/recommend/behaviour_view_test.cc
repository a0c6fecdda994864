#include "recommend/behaviour_view.h"

#include <cmath>
#include <map>

#include "recommend/item_vectors.h"
#include "tests/recommend/contexts.h"
#include "tests/recommend/fake_retriever.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using tests::ContextOf;
using tests::FakeRetriever;
using tests::ItemsOf;
using tests::Only;

Interactions SomeHistories() {
  Interactions out;
  LogOffset offset = 0;
  for (UserNumber u = 0; u < 30; ++u) {
    std::vector<ItemOrdinal> items;
    std::vector<int64_t> times;
    std::vector<LogOffset> offsets;
    for (ItemOrdinal i = 0; i < 6; ++i) {
      items.push_back(static_cast<ItemOrdinal>((u * 3 + i * (1 + u % 3)) % 40));
      times.push_back(i);
      offsets.push_back(++offset);
    }
    out.AddUser(u + 1, items, times, offsets);
  }
  return out;
}

struct Fixture {
  explicit Fixture(bool with_retriever, bool with_ease = true) {
    auto counts = std::make_shared<BehaviourCounts>(BehaviourCountsOptions{});
    counts->AddAll(SomeHistories());
    parts.counts = counts;
    if (with_ease) {
      auto ease = Ease::Build(SomeHistories(), {.lambda = 10});
      REQUIRE(ease.ok());
      parts.ease = *ease;
    }
    if (with_retriever) {
      auto retriever = std::make_shared<FakeRetriever>();
      auto index = VectorIndex::Create({.width = retriever->width()});
      REQUIRE(index.ok());
      std::vector<ItemOrdinal> items;
      for (ItemOrdinal i = 0; i < 50; ++i) items.push_back(i);  // 40 to 49: nobody has touched them
      std::vector<float> vectors(50 * 8);
      REQUIRE(retriever->EmbedItems(items, absl::MakeSpan(vectors)).ok());
      REQUIRE((*index)->Add(items, vectors).ok());
      parts.retriever = retriever;
      parts.vectors = std::move(*index);
    }
  }
  BehaviourParts parts;
};

const CandidateSource* SourceOf(const BehaviourView& view, SourceId id) {
  for (const CandidateSource* source : view.Sources()) {
    if (source->id() == id) return source;
  }
  return nullptr;
}

std::vector<ScoredItem> Find(const BehaviourView& view, SourceId id, const RequestContext& context,
                             size_t limit) {
  const CandidateSource* source = SourceOf(view, id);
  REQUIRE(source != nullptr);
  REQUIRE(source->Applies(context));
  auto answer = source->Find(context, limit, Deadline::Never());
  REQUIRE(answer.ok());
  CHECK(answer->complete);
  return answer->items;
}

TEST_CASE("a view has the sources whose parts are there") {
  const BehaviourView bare(Fixture(false, false).parts);
  CHECK(bare.Sources().size() == 4);
  CHECK(SourceOf(bare, SourceId::kRetriever) == nullptr);
  CHECK(SourceOf(bare, SourceId::kEase) == nullptr);
  const BehaviourView full(Fixture(true).parts);
  CHECK(full.Sources().size() == 6);
}

TEST_CASE("sources apply to requests that have what they need") {
  const BehaviourView view(Fixture(true).parts);
  const RequestContext nobody = ContextOf({});
  for (const CandidateSource* source : view.Sources())
    CHECK(source->Applies(nobody) == (source->id() == SourceId::kPopularity));
  RequestContext item = ContextOf({});
  item.context_items = {3};
  CHECK(SourceOf(view, SourceId::kSimilar)->Applies(item));
}

TEST_CASE("every source keeps to the allowed and excluded items") {
  const BehaviourView view(Fixture(true).parts);
  RequestContext context = ContextOf({1, 2, 3});
  REQUIRE(view.FillUserVector(&context).ok());
  context.context_items = {3};
  std::vector<ItemOrdinal> few;
  for (ItemOrdinal i = 0; i < 40; i += 3) few.push_back(i);
  context.allowed = Only(few);
  context.excluded = {3, 6};
  for (const CandidateSource* source : view.Sources()) {
    auto answer = source->Find(context, 100, Deadline::Never());
    REQUIRE(answer.ok());
    // What comes after item 3 need not be among the few.
    CHECK((source->id() == SourceId::kTransition || !answer->items.empty()));
    for (size_t i = 0; i < answer->items.size(); ++i) {
      const ScoredItem& item = answer->items[i];
      CHECK(item.item % 3 == 0);
      CHECK(item.item != 3);
      CHECK(item.item != 6);
      if (i > 0) CHECK(answer->items[i - 1].score >= item.score);
    }
  }
}

TEST_CASE("each candidate has every behaviour signal, whichever source found it") {
  const BehaviourView view(Fixture(true).parts);
  RequestContext context = ContextOf({1, 2, 3});
  REQUIRE(view.FillUserVector(&context).ok());
  context.context_items = {7};
  std::vector<Candidate> candidates(2);
  candidates[0].item = 9;   // touched
  candidates[1].item = 45;  // never touched, but embedded
  view.Fill(context, absl::MakeSpan(candidates));
  for (Signal signal :
       {Signal::kRetrieverScore, Signal::kCovisitationScore, Signal::kTransitionScore, Signal::kSimilarScore,
        Signal::kTransitionSecondLast, Signal::kCovisitationLast, Signal::kCovisitationSecondLast,
        Signal::kLogCount, Signal::kLogRecentCount, Signal::kCosineLast, Signal::kCosineMaxLast5,
        Signal::kCosineMaxLast20, Signal::kHistoryLength}) {
    CHECK(std::isfinite(Get(candidates[0].signals, signal)));
    CHECK(std::isfinite(Get(candidates[1].signals, signal)));
  }
  CHECK(std::isfinite(Get(candidates[0].signals, Signal::kPopularityScore)));
  CHECK(std::isfinite(Get(candidates[0].signals, Signal::kDecayedEase)));
  CHECK(std::isnan(Get(candidates[1].signals, Signal::kPopularityScore)));
  CHECK(std::isnan(Get(candidates[1].signals, Signal::kDecayedEase)));
  CHECK(Get(candidates[0].signals, Signal::kHistoryLength) == Approx(std::log(4.0)));
  // The fake user vector is the last item's: the two signals agree.
  CHECK(Get(candidates[0].signals, Signal::kRetrieverScore) ==
        Approx(Get(candidates[0].signals, Signal::kCosineLast)));
  CHECK(Get(candidates[0].signals, Signal::kCosineMaxLast20) >=
        Get(candidates[0].signals, Signal::kCosineLast));
}

TEST_CASE("the score of the retriever's and EASE's lists is the candidate's signal") {
  const BehaviourView view(Fixture(true).parts);
  RequestContext context = ContextOf({1, 2, 3});
  REQUIRE(view.FillUserVector(&context).ok());
  const std::map<SourceId, Signal> signals = {{SourceId::kRetriever, Signal::kRetrieverScore},
                                              {SourceId::kEase, Signal::kDecayedEase}};
  for (const auto& [id, signal] : signals) {
    for (const ScoredItem& item : Find(view, id, context, 50)) {
      std::vector<Candidate> candidate(1);
      candidate[0].item = item.item;
      view.Fill(context, absl::MakeSpan(candidate));
      CHECK(Get(candidate[0].signals, signal) == Approx(item.score).margin(1e-6));
    }
  }
}

TEST_CASE("similar items are the nearest to any anchor, without the anchors") {
  const Fixture fixture(true);
  const BehaviourView view(fixture.parts);
  RequestContext context = ContextOf({});
  context.context_items = {3};
  context.positive_items = {20};
  const auto found = Find(view, SourceId::kSimilar, context, 100);
  CHECK(found.size() == 48);
  const ItemVectors anchors(*fixture.parts.vectors, std::vector<ItemOrdinal>{3, 20});
  for (const ScoredItem& item : found) {
    CHECK(item.item != 3);
    CHECK(item.item != 20);
    const ItemVectors vector(*fixture.parts.vectors, std::vector<ItemOrdinal>{item.item});
    CHECK(item.score == Approx(std::max(Cosine(anchors.vector(0), vector.vector(0)),
                                        Cosine(anchors.vector(1), vector.vector(0)))));
  }
}

TEST_CASE("similar items lean away from negative ones") {
  const BehaviourView view(Fixture(true).parts);
  RequestContext context = ContextOf({});
  context.context_items = {3};
  const auto before = Find(view, SourceId::kSimilar, context, 10);
  context.negative_items = {before[0].item};
  const auto after = Find(view, SourceId::kSimilar, context, 10);
  CHECK(after.size() == 10);
  for (const ScoredItem& item : after) CHECK(item.item != before[0].item);
  CHECK(after[0].score <= before[1].score);
}

TEST_CASE("without a model, similar items are those that are co-visited") {
  const BehaviourView view(Fixture(false).parts);
  RequestContext context = ContextOf({});
  context.context_items = {3};
  const auto found = Find(view, SourceId::kSimilar, context, 10);
  REQUIRE_FALSE(found.empty());
  CHECK(ItemsOf(found) == ItemsOf(view.parts().counts->CoVisited(ContextOf({3}), 10)));
  std::vector<Candidate> candidate(1);
  candidate[0].item = found[0].item;
  view.Fill(context, absl::MakeSpan(candidate));
  CHECK(Get(candidate[0].signals, Signal::kSimilarScore) == Approx(found[0].score));
}

}  // namespace
}  // namespace waymark
