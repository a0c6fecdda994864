#include "training/ranker/ranking_list_builder.h"

#include "absl/strings/str_cat.h"
#include "rank/ranker_input.h"

namespace waymark {

absl::StatusOr<bool> RankingListBuilder::AddList(const RequestContext& context,
                                                 absl::Span<const Candidate> candidates,
                                                 absl::Span<const ItemOrdinal> targets,
                                                 absl::Span<const float> gains, absl::Time time,
                                                 LogOffset position) {
  if (!gains.empty() && gains.size() != targets.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(targets.size(), " targets have ", gains.size(), " gains; give one each, or none"));
  }
  bool found = false;
  list_gains_.assign(candidates.size(), 0.f);
  items_.clear();
  for (size_t i = 0; i < candidates.size(); ++i) {
    items_.push_back(candidates[i].item);
    for (size_t t = 0; t < targets.size(); ++t) {
      if (candidates[i].item != targets[t]) continue;
      list_gains_[i] += gains.empty() ? 1.f : gains[t];
      found = found || list_gains_[i] > 0;
    }
  }
  if (!found) {
    lists_->CountWithoutTarget();
    return false;
  }
  rows_.resize(candidates.size() * table_->size());
  table_->Compute(context, candidates, absl::MakeSpan(rows_));
  const RankerInput input = MakeRankerInput(context);
  const absl::Status added = lists_->Add({rows_, items_, list_gains_, input.history, input.types, input.query,
                                          absl::ToUnixMicros(time), position, context.user});
  if (absl::IsResourceExhausted(added)) return false;
  if (!added.ok()) return added;
  return true;
}

}  // namespace waymark
