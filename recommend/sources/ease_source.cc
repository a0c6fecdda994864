#include "recommend/sources/ease_source.h"

#include "recommend/top_items.h"

namespace waymark {
namespace {

class EaseSource : public CandidateSource {
 public:
  explicit EaseSource(std::shared_ptr<const Ease> ease) : ease_(std::move(ease)) {}

  SourceId id() const override { return SourceId::kEase; }
  bool Applies(const RequestContext& context) const override { return !context.history.empty(); }
  absl::StatusOr<SourceAnswer> Find(const RequestContext& context, size_t limit,
                                    Deadline deadline) const override {
    SourceAnswer answer;
    if (deadline.Expired()) {
      answer.complete = false;
      return answer;
    }
    std::vector<ItemOrdinal> history;
    for (const HistoryEvent& event : context.history) history.push_back(event.item);
    std::vector<float> scores(ease_->items().size());
    if (!ease_->Scores(history, absl::MakeSpan(scores))) return answer;
    TopItems top(limit);
    for (size_t j = 0; j < scores.size(); ++j) {
      // What the history lowers is not found by it.
      if (scores[j] > 0 && scores[j] >= top.threshold() && context.MayShow(ease_->items()[j]))
        top.Offer(ease_->items()[j], scores[j]);
    }
    answer.items = top.Take();
    return answer;
  }

 private:
  const std::shared_ptr<const Ease> ease_;
};

}  // namespace

std::unique_ptr<CandidateSource> MakeEaseSource(std::shared_ptr<const Ease> ease) {
  return std::make_unique<EaseSource>(std::move(ease));
}

}  // namespace waymark
