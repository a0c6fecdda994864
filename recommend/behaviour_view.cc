#include "recommend/behaviour_view.h"

#include <cmath>

#include "recommend/item_vectors.h"
#include "recommend/sources/counts_sources.h"
#include "recommend/sources/ease_source.h"
#include "recommend/sources/retriever_source.h"
#include "recommend/sources/similar_source.h"

namespace waymark {
namespace {

// The newest `limit` items of the history, oldest first.
std::vector<ItemOrdinal> NewestItems(const RequestContext& context, size_t limit) {
  std::vector<ItemOrdinal> items;
  const size_t begin = context.history.size() - std::min(context.history.size(), limit);
  for (size_t i = begin; i < context.history.size(); ++i) items.push_back(context.history[i].item);
  return items;
}

std::vector<ItemOrdinal> ItemsOf(absl::Span<const Candidate> candidates) {
  std::vector<ItemOrdinal> items;
  for (const Candidate& candidate : candidates) items.push_back(candidate.item);
  return items;
}

}  // namespace

BehaviourView::BehaviourView(BehaviourParts parts) : parts_(std::move(parts)) {
  if (parts_.vectors == nullptr) parts_.retriever = nullptr;
  if (parts_.retriever != nullptr) sources_.push_back(MakeRetrieverSource(parts_.vectors));
  sources_.push_back(MakeCovisitationSource(parts_.counts));
  sources_.push_back(MakeTransitionSource(parts_.counts));
  sources_.push_back(MakePopularitySource(parts_.counts));
  sources_.push_back(MakeSimilarSource(parts_.counts, parts_.vectors));
  if (parts_.ease != nullptr) sources_.push_back(MakeEaseSource(parts_.ease));
}

BehaviourView::~BehaviourView() = default;

absl::Status BehaviourView::FillUserVector(RequestContext* context) const {
  context->user_vector.clear();
  if (parts_.retriever == nullptr || context->history.empty()) return absl::OkStatus();
  std::vector<float> vector(static_cast<size_t>(parts_.retriever->width()));
  absl::Status status = parts_.retriever->EncodeUser(context->history, context->now, absl::MakeSpan(vector));
  if (status.ok()) context->user_vector = std::move(vector);
  return status;
}

std::vector<const CandidateSource*> BehaviourView::Sources() const {
  std::vector<const CandidateSource*> sources;
  for (const auto& source : sources_) sources.push_back(source.get());
  return sources;
}

void BehaviourView::Fill(const RequestContext& context, absl::Span<Candidate> candidates) const {
  const auto length = std::log1p(static_cast<float>(context.history.size()));
  for (Candidate& candidate : candidates) Set(candidate.signals, Signal::kHistoryLength, length);
  parts_.counts->Fill(context, candidates);
  if (parts_.vectors != nullptr) FillVectorSignals(context, candidates);

  const std::vector<ItemOrdinal> items = ItemsOf(candidates);
  std::vector<float> values(items.size());
  if (parts_.ease != nullptr && !context.history.empty()) {
    parts_.ease->ScoresOf(NewestItems(context, context.history.size()), items, absl::MakeSpan(values));
    for (size_t i = 0; i < items.size(); ++i) Set(candidates[i].signals, Signal::kDecayedEase, values[i]);
  }
  const std::vector<ItemOrdinal> anchors = AnchorItems(context);
  if (parts_.vectors == nullptr && !anchors.empty()) {
    // The cosine of the items' co-visits stands in for that of their vectors.
    parts_.counts->CoVisitation(anchors, items, absl::MakeSpan(values));
    for (size_t i = 0; i < items.size(); ++i) Set(candidates[i].signals, Signal::kSimilarScore, values[i]);
  }
}

void BehaviourView::FillVectorSignals(const RequestContext& context, absl::Span<Candidate> candidates) const {
  const VectorIndex& index = *parts_.vectors;
  const std::vector<ItemOrdinal> newest = NewestItems(context, 20);
  const std::vector<ItemOrdinal> anchors = AnchorItems(context);
  const ItemVectors history(index, newest);
  const ItemVectors similar(index, anchors);
  const ItemVectors vectors(index, ItemsOf(candidates));
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!vectors.Has(i)) continue;
    SignalValues& signals = candidates[i].signals;
    const absl::Span<const float> vector = vectors.vector(i);
    if (context.user_vector.size() == vector.size())
      Set(signals, Signal::kRetrieverScore, Cosine(context.user_vector, vector));
    Set(signals, Signal::kCosineLast, history.LargestCosine(vector, 1));
    Set(signals, Signal::kCosineMaxLast5, history.LargestCosine(vector, 5));
    Set(signals, Signal::kCosineMaxLast20, history.LargestCosine(vector, 20));
    if (!anchors.empty()) Set(signals, Signal::kSimilarScore, similar.LargestCosine(vector, anchors.size()));
  }
}

}  // namespace waymark
