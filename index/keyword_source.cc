// The pipeline's keyword source and signals.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
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
    query.count_up_to = context.all_matches ? kCountAll : context.count_up_to;
    query.synonyms = context.synonyms;
    if (auto minimum = MinimumMatch::Parse(context.minimum_match); minimum.ok()) query.minimum = *minimum;
    query.relax_below = context.relax_below;
    absl::StatusOr<KeywordHits> hits = index_->Search(query, limit, deadline);
    if (!hits.ok()) return hits.status();
    if (hits->items.size() == limit && hits->complete) AddTitles(query, deadline, &hits->items);
    return SourceAnswer{std::move(hits->items), hits->complete,           hits->total,
                        hits->total_exact,      std::move(hits->matches), std::move(hits->left_out)};
  }

 private:
  // Of the candidates at most one in kTitleShare comes from the titles alone, in place of the last.
  static constexpr size_t kTitleShare = 10;

  void AddTitles(const KeywordQuery& query, Deadline deadline, std::vector<ScoredItem>* items) const {
    const size_t most = items->size() / kTitleShare;
    if (most == 0) return;
    absl::flat_hash_set<ItemOrdinal> found, titles;
    for (const ScoredItem& item : *items) found.insert(item.item);
    std::vector<ScoredItem> added;
    for (const ScoredItem& item : index_->SearchTitles(query, most, deadline)) {
      titles.insert(item.item);
      if (!found.contains(item.item)) added.push_back(item);
    }
    size_t to_drop = added.size();
    for (size_t i = items->size(); i-- > 0 && to_drop > 0;) {
      if (titles.contains((*items)[i].item)) continue;
      items->erase(items->begin() + static_cast<ptrdiff_t>(i));
      --to_drop;
    }
    items->insert(items->end(), added.begin(), added.end());
  }

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
