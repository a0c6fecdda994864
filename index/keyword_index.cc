#include "index/keyword_index.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "index/highlighter.h"
#include "index/index_check.h"
#include "index/index_folder.h"
#include "index/index_worker.h"
#include "index/query_correction.h"
#include "index/query_parser.h"
#include "index/score_explainer.h"
#include "index/snapshot_search.h"

namespace waymark {

class KeywordIndex::Impl {
 public:
  Impl(const Store* store, Scope scope, const Catalog* catalog, const KeywordIndexOptions& options)
      : store(store),
        scope(scope),
        catalog(catalog),
        options(options),
        worker(store, scope, catalog, IndexFolder(store->data_folder(), scope), options) {}

  const Store* const store;
  const Scope scope;
  const Catalog* const catalog;
  const KeywordIndexOptions options;
  IndexWorker worker;
};

KeywordIndex::KeywordIndex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KeywordIndex::~KeywordIndex() = default;

absl::StatusOr<std::unique_ptr<KeywordIndex>> KeywordIndex::Open(Store* store, Scope scope,
                                                                 const Catalog* catalog,
                                                                 const KeywordIndexOptions& options) {
  if (!(options.bm25.k1 >= 0) || !(options.bm25.b >= 0 && options.bm25.b <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("bm25 has k1 ", options.bm25.k1, " and b ", options.bm25.b,
                                                   "; k1 takes 0 or more, b from 0 to 1"));
  }
  auto impl = std::make_unique<Impl>(store, scope, catalog, options);
  if (absl::Status status = impl->worker.Start(); !status.ok()) return status;
  return std::unique_ptr<KeywordIndex>(new KeywordIndex(std::move(impl)));
}

absl::Status KeywordIndex::CatchUp(absl::Time until) {
  // A whole round, not only the position: the schema may have changed without an item.
  return impl_->worker.AwaitRound(until);
}

absl::Status KeywordIndex::CatchUpTo(LogOffset offset, absl::Time until) {
  return impl_->worker.AwaitPosition(offset, until);
}

LogOffset KeywordIndex::position() const { return impl_->worker.snapshot()->position; }

absl::StatusOr<KeywordHits> KeywordIndex::Search(const KeywordQuery& query, size_t limit,
                                                 Deadline deadline) const {
  if (query.query.size() > kMaxQueryBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("query has ", query.query.size(), " bytes; it takes at most ", kMaxQueryBytes));
  }
  if (query.all_matches && query.total != TotalCount::kExact) {
    return absl::InvalidArgumentError(
        "all_matches needs an exact total: a search that counts «at least» passes over matches");
  }
  const std::shared_ptr<const IndexSnapshot> snapshot = impl_->worker.snapshot();
  // An index that has seen all that the catalogue has holds no item that is deleted there.
  std::shared_ptr<const ItemSet> live;
  if (impl_->catalog->position() > snapshot->position) live = impl_->catalog->LiveItems();
  const SnapshotQuery search{query.query, query.match_all,   query.allowed.get(),
                             live.get(),  query.excluded,    query.total,
                             query.typos, query.all_matches, query.synonyms.get()};
  return SearchSnapshot(*snapshot, search, impl_->options.bm25, limit, deadline);
}

void KeywordIndex::Fill(const std::string& query, absl::Span<Candidate> candidates, TypoTolerance typos,
                        const SynonymView* synonyms) const {
  FillKeywordSignals(*impl_->worker.snapshot(), std::string_view(query).substr(0, kMaxQueryBytes),
                     impl_->options.bm25, typos, synonyms, candidates);
}

std::vector<std::optional<ScoreExplanation>> KeywordIndex::Explain(const std::string& query,
                                                                   absl::Span<const ItemOrdinal> items,
                                                                   Deadline deadline, TypoTolerance typos,
                                                                   const SynonymView* synonyms) const {
  const std::shared_ptr<const IndexSnapshot> snapshot = impl_->worker.snapshot();
  const std::string_view text = std::string_view(query).substr(0, kMaxQueryBytes);
  const BoundQuery bound = BindQuery(ParseQuery(text, snapshot->analyzer, false, synonyms), *snapshot,
                                     impl_->options.bm25, deadline, typos);
  if (!bound.complete) return std::vector<std::optional<ScoreExplanation>>(items.size());
  return ExplainScores(*snapshot, bound, impl_->options.bm25, items, deadline);
}

std::vector<SynonymUse> KeywordIndex::SynonymsOf(const std::string& query,
                                                 const SynonymView& synonyms) const {
  const std::string_view text = std::string_view(query).substr(0, kMaxQueryBytes);
  return SynonymsUsed(ParseQuery(text, impl_->worker.snapshot()->analyzer, false, &synonyms));
}

std::string KeywordIndex::CorrectQuery(const std::string& query, TypoTolerance typos, Deadline deadline,
                                       const SynonymView* synonyms) const {
  const std::shared_ptr<const IndexSnapshot> snapshot = impl_->worker.snapshot();
  const std::string_view text = std::string_view(query).substr(0, kMaxQueryBytes);
  const BoundQuery bound = BindQuery(ParseQuery(text, snapshot->analyzer, false, synonyms), *snapshot,
                                     impl_->options.bm25, deadline, typos);
  if (!bound.complete) return {};
  return CorrectedQuery(text, bound, *snapshot, *impl_->store, impl_->scope);
}

absl::StatusOr<std::unique_ptr<Highlighter>> KeywordIndex::MakeHighlighter(
    const std::string& query, TypoTolerance typos, const HighlightOptions& options, Deadline deadline,
    const SynonymView* synonyms) const {
  std::shared_ptr<const IndexSnapshot> snapshot = impl_->worker.snapshot();
  const std::string_view text = std::string_view(query).substr(0, kMaxQueryBytes);
  const BoundQuery bound = BindQuery(ParseQuery(text, snapshot->analyzer, false, synonyms), *snapshot,
                                     impl_->options.bm25, deadline, typos);
  return Highlighter::Make(std::move(snapshot), bound, options);
}

KeywordIndexStatus KeywordIndex::status() const {
  const std::shared_ptr<const IndexSnapshot> snapshot = impl_->worker.snapshot();
  KeywordIndexStatus status;
  status.position = snapshot->position;
  status.items = snapshot->documents;
  status.segments = static_cast<int64_t>(snapshot->segments.size());
  for (const SegmentView& segment : snapshot->segments) {
    status.bytes += static_cast<int64_t>(segment.postings->memory_bytes());
  }
  status.error = std::string(impl_->worker.last_error().message());
  status.rebuild_reason = impl_->worker.rebuild_reason();
  status.recompile_reason = impl_->worker.recompile_reason();
  return status;
}

absl::Status KeywordIndex::Check(Deadline deadline, PartCheck* check) const {
  const auto refresh = [&]() -> absl::StatusOr<std::shared_ptr<const IndexSnapshot>> {
    if (absl::Status status = impl_->worker.AwaitRound(deadline.when()); !status.ok()) return status;
    return impl_->worker.snapshot();
  };
  return CheckDocuments(*impl_->store, impl_->scope, refresh, deadline, check);
}

absl::Status KeywordIndex::Rebuild(const std::string& reason) { return impl_->worker.Rebuild(reason); }

absl::Status KeywordIndex::Commit() { return impl_->worker.Commit(); }

}  // namespace waymark
