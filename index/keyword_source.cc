// The pipeline's keyword source and signals.
#include "index/keyword_index.h"

namespace waymark {
namespace {

class KeywordSource : public CandidateSource {
 public:
  explicit KeywordSource(const KeywordIndex* index) : index_(index) {}
  SourceId id() const override { return SourceId::kKeyword; }
  bool Applies(const RequestContext& context) const override { return !context.query.empty(); }

  absl::StatusOr<SourceAnswer> Find(const RequestContext& context, size_t limit,
                                    Deadline deadline) const override {
    KeywordQuery query{context.query};
    query.match_all = context.match_all_words;
    query.allowed = context.allowed;
    query.excluded = context.excluded;
    query.typos = context.typo_tolerance;
    query.all_matches = context.all_matches;
    query.synonyms = context.synonyms;
    if (auto minimum = MinimumMatch::Parse(context.minimum_match); minimum.ok()) query.minimum = *minimum;
    query.relax_below = context.relax_below;
    absl::StatusOr<KeywordHits> hits = index_->Search(query, limit, deadline);
    if (!hits.ok()) return hits.status();
    return SourceAnswer{std::move(hits->items), hits->complete,           hits->total,
                        hits->total_exact,      std::move(hits->matches), std::move(hits->left_out)};
  }

 private:
  const KeywordIndex* index_;
};

class KeywordSignals : public SignalProvider {
 public:
  explicit KeywordSignals(const KeywordIndex* index) : index_(index) {}
  void Fill(const RequestContext& context, absl::Span<Candidate> candidates) const override {
    if (context.query.empty()) return;
    index_->Fill(context.query, candidates, context.typo_tolerance, context.synonyms.get());
  }

 private:
  const KeywordIndex* index_;
};

}  // namespace

std::unique_ptr<CandidateSource> MakeKeywordSource(const KeywordIndex* index) {
  return std::make_unique<KeywordSource>(index);
}

std::unique_ptr<SignalProvider> MakeKeywordSignals(const KeywordIndex* index) {
  return std::make_unique<KeywordSignals>(index);
}

}  // namespace waymark
