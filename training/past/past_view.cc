#include "training/past/past_view.h"

#include "pipeline/rank_stage.h"
#include "recommend/ease.h"

namespace waymark {

absl::StatusOr<std::unique_ptr<PastView>> PastView::Make(const Interactions& known,
                                                         std::shared_ptr<const Retriever> retriever,
                                                         const PastViewParts& parts) {
  std::unique_ptr<PastView> view(new PastView());
  BehaviourParts behaviour;
  behaviour.items = parts.items;
  auto counts = std::make_shared<BehaviourCounts>(BehaviourCountsOptions());
  counts->AddAll(known);
  behaviour.counts = counts;
  auto ease = Ease::Build(known, EaseOptions());
  if (ease.ok()) {
    behaviour.ease = *std::move(ease);
  } else if (!absl::IsResourceExhausted(ease.status())) {  // too large a catalogue goes without
    return ease.status();
  }
  if (retriever != nullptr) {
    VectorIndexOptions options;
    options.width = retriever->width();
    auto vectors = VectorIndex::Create(options);
    if (!vectors.ok()) return vectors.status();
    // Items that events name without the catalogue having them count too: evaluation ranks all that is known.
    std::vector<bool> named(parts.items->End(), false);
    for (ItemOrdinal item : known.items) named[item] = true;
    constexpr size_t kBatch = 4096;
    std::vector<ItemOrdinal> items;
    std::vector<float> rows;
    for (ItemOrdinal first = 0; first < parts.items->End(); first += kBatch) {
      items.clear();
      const ItemOrdinal end = std::min<ItemOrdinal>(parts.items->End(), first + kBatch);
      for (ItemOrdinal item = first; item < end; ++item) {
        if (parts.items->Live(item) || named[item]) items.push_back(item);
      }
      rows.resize(items.size() * options.width);
      if (auto status = retriever->EmbedItems(items, absl::MakeSpan(rows)); !status.ok()) return status;
      if (auto status = (*vectors)->Add(items, rows); !status.ok()) return status;
    }
    behaviour.retriever = std::move(retriever);
    behaviour.vectors = *std::move(vectors);
  }
  view->behaviour_ = std::make_unique<BehaviourView>(std::move(behaviour));
  view->content_ = std::make_unique<ContentSignals>(
      parts.catalog, [counts](absl::Span<const ItemOrdinal> items, absl::Span<absl::Time> times) {
        counts->FirstEvents(items, times);
      });
  view->index_ = parts.index;
  if (parts.index != nullptr) view->keyword_ = MakeKeywordSource(parts.index);
  return view;
}

std::vector<const CandidateSource*> PastView::Sources(const RequestContext& context) const {
  if (!context.query.empty() && keyword_ != nullptr) return {keyword_.get()};  // as a search does
  return behaviour_->Sources();
}

absl::StatusOr<std::vector<Candidate>> PastView::Candidates(RequestContext* context,
                                                            const storage::BlendingPlan& plan) const {
  if (auto status = behaviour_->FillUserVector(context); !status.ok()) return status;
  GatheredCandidates gathered = GatherCandidates(*context, Sources(*context), plan, {}, Deadline::Never());
  if (!gathered.degraded.empty()) {
    return absl::InternalError(gathered.degraded[0].stage + ": " + gathered.degraded[0].reason);
  }
  std::vector<Candidate> candidates = std::move(gathered.candidates);
  FillSignals(*context, {behaviour_.get(), content_.get()}, &candidates);
  if (index_ != nullptr && !context->query.empty()) index_->Fill(context->query, absl::MakeSpan(candidates));
  return candidates;
}

}  // namespace waymark
