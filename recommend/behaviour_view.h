// Everything that behaviour knows, bound together for one retriever: the sources and the signals of a
// request. Live serving makes one for each live retriever; training and evaluation make one on a past view of
// the data, so that both run the same code.
//
//   BehaviourView view({.counts = counts, .retriever = retriever, .vectors = vectors});
//   view.FillUserVector(&context);
//   for (const CandidateSource* source : view.Sources()) ...
//   view.Fill(context, absl::MakeSpan(candidates));
#pragma once
#include <memory>
#include <vector>

#include "candidates/candidate_source.h"
#include "candidates/item_directory.h"
#include "recommend/behaviour_counts.h"
#include "recommend/ease.h"
#include "recommend/retriever.h"
#include "recommend/vector_index.h"

namespace waymark {

struct BehaviourParts {
  std::shared_ptr<const BehaviourCounts> counts;
  std::shared_ptr<const Retriever> retriever;  // null: none yet; its sources and signals are missing then
  std::shared_ptr<const VectorIndex> vectors;  // of that retriever
  const ItemDirectory* items = nullptr;
  std::shared_ptr<const Ease> ease;  // null: none; a catalogue too large for it
  bool ease_awaited = false;         // there is none yet, but will be
};

// Thread-safe.
class BehaviourView : public SignalProvider {
 public:
  // `counts` must be there; without `vectors` the retriever is passed over.
  explicit BehaviourView(BehaviourParts parts);
  ~BehaviourView() override;
  // Sets context.user_vector from the history (nothing to do without a retriever or a history).
  absl::Status FillUserVector(RequestContext* context) const;
  // retriever, covisitation, transition, popularity, similar, ease: those whose parts are there. They live as
  // long as the view.
  std::vector<const CandidateSource*> Sources() const;
  // All behaviour signals, for every candidate whichever source has found it.
  void Fill(const RequestContext& context, absl::Span<Candidate> candidates) const override;
  const BehaviourParts& parts() const { return parts_; }

 private:
  void FillVectorSignals(const RequestContext& context, absl::Span<Candidate> candidates) const;

  BehaviourParts parts_;
  std::vector<std::unique_ptr<CandidateSource>> sources_;
};

}  // namespace waymark
