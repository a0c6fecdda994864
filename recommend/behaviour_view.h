// Everything that behaviour knows, bound together for one retriever: the sources and the signals of a
// request. Live serving makes one for each live retriever; training and evaluation make one on a past view of
// the data, so that both run the same code.
#pragma once
#include <memory>
#include <vector>

#include "candidates/candidate_source.h"
#include "candidates/item_directory.h"
#include "recommend/behaviour_counts.h"
#include "recommend/retriever.h"
#include "recommend/vector_index.h"

namespace waymark {

struct BehaviourParts {
  std::shared_ptr<const BehaviourCounts> counts;
  std::shared_ptr<const Retriever> retriever;  // null: none yet; its sources and signals are missing then
  std::shared_ptr<const VectorIndex> vectors;  // of that retriever
  const ItemDirectory* items = nullptr;
};

// Thread-safe.
class BehaviourView : public SignalProvider {
 public:
  explicit BehaviourView(BehaviourParts parts);
  ~BehaviourView() override;
  // Sets context.user_vector from the history (nothing to do without a retriever or a history).
  absl::Status FillUserVector(RequestContext* context) const;
  // retriever, covisitation, transition, popularity, similar. They live as long as the view.
  std::vector<const CandidateSource*> Sources() const;
  void Fill(const RequestContext& context, absl::Span<Candidate> candidates) const override;
  const BehaviourParts& parts() const { return parts_; }

 private:
  BehaviourParts parts_;
  std::vector<std::unique_ptr<CandidateSource>> sources_;
};

}  // namespace waymark
