#include "recommend/sources/counts_sources.h"

namespace waymark {
namespace {

using Query = std::vector<ScoredItem> (BehaviourCounts::*)(const RequestContext&, size_t) const;

class CountsSource : public CandidateSource {
 public:
  CountsSource(SourceId id, std::shared_ptr<const BehaviourCounts> counts, Query query, bool needs_history)
      : id_(id), counts_(std::move(counts)), query_(query), needs_history_(needs_history) {}

  SourceId id() const override { return id_; }
  bool Applies(const RequestContext& context) const override {
    return !needs_history_ || !context.history.empty();
  }
  absl::StatusOr<SourceAnswer> Find(const RequestContext& context, size_t limit,
                                    Deadline deadline) const override {
    SourceAnswer answer;
    // One such call takes well under 10 ms, so the deadline is looked at once.
    if (deadline.Expired()) {
      answer.complete = false;
    } else {
      answer.items = (counts_.get()->*query_)(context, limit);
    }
    return answer;
  }

 private:
  const SourceId id_;
  const std::shared_ptr<const BehaviourCounts> counts_;
  const Query query_;
  const bool needs_history_;
};

}  // namespace

std::unique_ptr<CandidateSource> MakeCovisitationSource(std::shared_ptr<const BehaviourCounts> counts) {
  return std::make_unique<CountsSource>(SourceId::kCovisitation, std::move(counts),
                                        &BehaviourCounts::CoVisited, true);
}

std::unique_ptr<CandidateSource> MakeTransitionSource(std::shared_ptr<const BehaviourCounts> counts) {
  return std::make_unique<CountsSource>(SourceId::kTransition, std::move(counts),
                                        &BehaviourCounts::Transitions, true);
}

std::unique_ptr<CandidateSource> MakePopularitySource(std::shared_ptr<const BehaviourCounts> counts) {
  return std::make_unique<CountsSource>(SourceId::kPopularity, std::move(counts), &BehaviourCounts::Popular,
                                        false);
}

}  // namespace waymark
