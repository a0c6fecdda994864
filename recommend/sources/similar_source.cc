#include "recommend/sources/similar_source.h"

#include <algorithm>

#include "recommend/item_vectors.h"
#include "recommend/top_items.h"

namespace waymark {
namespace {

constexpr size_t kMostAnchors = 20;
constexpr float kAway = 0.5f;

class SimilarSource : public CandidateSource {
 public:
  SimilarSource(std::shared_ptr<const BehaviourCounts> counts, std::shared_ptr<const VectorIndex> vectors)
      : counts_(std::move(counts)), vectors_(std::move(vectors)) {}

  SourceId id() const override { return SourceId::kSimilar; }
  bool Applies(const RequestContext& context) const override {
    return !context.context_items.empty() || !context.positive_items.empty();
  }
  absl::StatusOr<SourceAnswer> Find(const RequestContext& context, size_t limit,
                                    Deadline deadline) const override {
    const std::vector<ItemOrdinal> anchors = AnchorItems(context);
    SourceAnswer answer;
    if (vectors_ != nullptr) {
      auto found = FindByVectors(context, anchors, limit, deadline);
      if (!found.ok()) return found.status();
      answer.items = *std::move(found);
    }
    // No retriever, or none of the anchors has a vector yet.
    if (answer.items.empty() && !deadline.Expired())
      answer.items = counts_->CoVisitedWith(anchors, context, limit);
    answer.complete = !deadline.Expired();
    return answer;
  }

 private:
  absl::StatusOr<std::vector<ScoredItem>> FindByVectors(const RequestContext& context,
                                                        const std::vector<ItemOrdinal>& anchors, size_t limit,
                                                        Deadline deadline) const;

  const std::shared_ptr<const BehaviourCounts> counts_;
  const std::shared_ptr<const VectorIndex> vectors_;
};

absl::StatusOr<std::vector<ScoredItem>> SimilarSource::FindByVectors(const RequestContext& context,
                                                                     const std::vector<ItemOrdinal>& anchors,
                                                                     size_t limit, Deadline deadline) const {
  const ItemVectors towards(*vectors_, anchors);
  const ItemVectors away(*vectors_, context.negative_items);
  std::vector<ItemOrdinal> excluded = context.excluded;
  excluded.insert(excluded.end(), anchors.begin(), anchors.end());
  excluded.insert(excluded.end(), context.negative_items.begin(), context.negative_items.end());
  std::sort(excluded.begin(), excluded.end());

  // Leaning away takes items out of the first places: look deeper for others.
  const size_t depth = context.negative_items.empty() ? limit : limit * 3;
  std::vector<ItemOrdinal> found;
  for (size_t i = 0; i < anchors.size() && !deadline.Expired(); ++i) {
    if (!towards.Has(i)) continue;
    auto near = vectors_->Search(towards.vector(i), depth, context.allowed.get(), excluded, deadline);
    if (!near.ok()) return near.status();
    for (const ScoredItem& item : *near) found.push_back(item.item);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  const ItemVectors candidates(*vectors_, found);
  TopItems top(limit);
  for (size_t i = 0; i < found.size(); ++i) {
    if (!candidates.Has(i)) continue;  // removed since
    const float near = towards.LargestCosine(candidates.vector(i), anchors.size());
    const float from = away.LargestCosine(candidates.vector(i), context.negative_items.size());
    top.Offer(found[i], from > 0 ? near - kAway * from : near);
  }
  return top.Take();
}

}  // namespace

std::vector<ItemOrdinal> AnchorItems(const RequestContext& context) {
  std::vector<ItemOrdinal> anchors;
  for (const auto* items : {&context.context_items, &context.positive_items}) {
    for (ItemOrdinal item : *items) {
      if (anchors.size() < kMostAnchors && std::find(anchors.begin(), anchors.end(), item) == anchors.end())
        anchors.push_back(item);
    }
  }
  return anchors;
}

std::unique_ptr<CandidateSource> MakeSimilarSource(std::shared_ptr<const BehaviourCounts> counts,
                                                   std::shared_ptr<const VectorIndex> vectors) {
  return std::make_unique<SimilarSource>(std::move(counts), std::move(vectors));
}

}  // namespace waymark
