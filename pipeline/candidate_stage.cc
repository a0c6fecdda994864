#include "pipeline/candidate_stage.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/time/clock.h"

namespace waymark {
namespace {

const storage::BlendingPlan::Source* FindInPlan(const storage::BlendingPlan& plan, SourceId id) {
  for (const auto& source : plan.sources()) {
    if (source.name() == SourceName(id)) return &source;
  }
  return nullptr;
}

}  // namespace

Signal SignalOfSource(SourceId id) {
  switch (id) {
    case SourceId::kKeyword:
      return Signal::kKeywordScore;
    case SourceId::kRetriever:
      return Signal::kRetrieverScore;
    case SourceId::kCovisitation:
      return Signal::kCovisitationScore;
    case SourceId::kTransition:
      return Signal::kTransitionScore;
    case SourceId::kPopularity:
      return Signal::kPopularityScore;
    case SourceId::kSimilar:
      return Signal::kSimilarScore;
    case SourceId::kEase:
      return Signal::kDecayedEase;
    case SourceId::kFresh:
    case SourceId::kCount:
      return Signal::kCount;
  }
  return Signal::kCount;
}

GatheredCandidates GatherCandidates(const RequestContext& context,
                                    absl::Span<const CandidateSource* const> sources,
                                    const storage::BlendingPlan& plan, const CandidateLimits& limits,
                                    Deadline deadline) {
  GatheredCandidates out;
  absl::flat_hash_map<ItemOrdinal, size_t> places;
  for (const CandidateSource* source : sources) {
    const auto* planned = FindInPlan(plan, source->id());
    if (planned == nullptr || planned->weight() == 0 || !source->Applies(context)) continue;
    const std::string name(SourceName(source->id()));
    if (deadline.Expired()) {
      out.degraded.push_back({name, "not asked: the deadline had passed"});
      continue;
    }
    const size_t limit = limits.per_source > 0 ? limits.per_source : planned->limit();
    const absl::Time start = absl::Now();
    auto answer = source->Find(context, limit, deadline);
    out.timings.push_back({name, absl::Now() - start});
    if (!answer.ok()) {
      out.degraded.push_back({name, std::string(answer.status().message())});
      continue;
    }
    if (!answer->complete) out.degraded.push_back({name, "cut short by the deadline"});
    if (source->id() == SourceId::kKeyword) {
      out.total = answer->total;
      out.total_exact = answer->total_exact && answer->complete;
      out.matches = std::move(answer->matches);
      out.left_out = std::move(answer->left_out);
    }
    const Signal signal = SignalOfSource(source->id());
    uint16_t rank = 0;
    for (const ScoredItem& hit : answer->items) {
      ++rank;
      auto [place, is_new] = places.try_emplace(hit.item, out.candidates.size());
      if (is_new) out.candidates.emplace_back().item = hit.item;
      Candidate& candidate = out.candidates[place->second];
      candidate.ranks[static_cast<size_t>(source->id())] = rank;
      if (signal != Signal::kCount) Set(candidate.signals, signal, hit.score);
      candidate.fusion_score += static_cast<float>(planned->weight() / (plan.fusion_k() + rank));
    }
  }
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.fusion_score != b.fusion_score ? a.fusion_score > b.fusion_score : a.item < b.item;
  };
  const size_t keep =
      std::min<size_t>(out.candidates.size(), limits.merged > 0 ? limits.merged : plan.rank_limit());
  std::partial_sort(out.candidates.begin(), out.candidates.begin() + keep, out.candidates.end(), better);
  out.candidates.resize(keep);
  return out;
}

}  // namespace waymark
