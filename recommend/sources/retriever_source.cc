#include "recommend/sources/retriever_source.h"

namespace waymark {
namespace {

class RetrieverSource : public CandidateSource {
 public:
  explicit RetrieverSource(std::shared_ptr<const VectorIndex> vectors) : vectors_(std::move(vectors)) {}

  SourceId id() const override { return SourceId::kRetriever; }
  bool Applies(const RequestContext& context) const override { return !context.user_vector.empty(); }
  absl::StatusOr<SourceAnswer> Find(const RequestContext& context, size_t limit,
                                    Deadline deadline) const override {
    auto found =
        vectors_->Search(context.user_vector, limit, context.allowed.get(), context.excluded, deadline);
    if (!found.ok()) return found.status();
    SourceAnswer answer;
    answer.items = *std::move(found);
    answer.complete = !deadline.Expired();
    return answer;
  }

 private:
  const std::shared_ptr<const VectorIndex> vectors_;
};

}  // namespace

std::unique_ptr<CandidateSource> MakeRetrieverSource(std::shared_ptr<const VectorIndex> vectors) {
  return std::make_unique<RetrieverSource>(std::move(vectors));
}

}  // namespace waymark
