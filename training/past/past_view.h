// The engine's behaviour side as it stood at a cut: the same sources and signals as serving, over counts and
// a retriever that have seen nothing later.
#pragma once
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "candidates/content_signals.h"
#include "catalog/catalog.h"
#include "index/keyword_index.h"
#include "pipeline/candidate_stage.h"
#include "recommend/behaviour_view.h"

namespace waymark {

struct PastViewParts {
  const ItemDirectory* items = nullptr;
  const Catalog* catalog = nullptr;     // content signals
  const KeywordIndex* index = nullptr;  // null: decisions with a query find no keyword candidates
};

// Thread-safe once made.
class PastView {
 public:
  // `retriever` null: counts only.
  static absl::StatusOr<std::unique_ptr<PastView>> Make(const Interactions& known,
                                                        std::shared_ptr<const Retriever> retriever,
                                                        const PastViewParts& parts);
  // Stages 3 to 6 with all signals filled: what the ranker would have seen.
  absl::StatusOr<std::vector<Candidate>> Candidates(RequestContext* context,
                                                    const storage::BlendingPlan& plan) const;
  const BehaviourView& behaviour() const { return *behaviour_; }
  std::vector<const CandidateSource*> Sources(const RequestContext& context) const;

 private:
  PastView() = default;
  std::unique_ptr<BehaviourView> behaviour_;
  std::unique_ptr<ContentSignals> content_;
  std::unique_ptr<CandidateSource> keyword_;
  const KeywordIndex* index_ = nullptr;
};

}  // namespace waymark
