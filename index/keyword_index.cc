#include "index/keyword_index.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "index/catalog_query_fields.h"
#include "index/highlighter.h"
#include "index/index_check.h"
#include "index/index_folder.h"
#include "index/index_worker.h"
#include "index/query_correction.h"
#include "index/query_parser.h"
#include "index/query_relaxation.h"
#include "index/score_explainer.h"
#include "index/snapshot_search.h"
#include "index/title_search.h"

namespace waymark {
namespace {

SnapshotQuery SnapshotQueryOf(const KeywordQuery& query, const ItemSet* live, const QueryFields* fields) {
  SnapshotQuery search{query.query};
  search.match_all = query.match_all;
  search.allowed = query.allowed.get();
  search.live = live;
  search.excluded = query.excluded;
  search.count_up_to = std::max(query.count_up_to, query.relax_below);
  search.typos = query.typos;
  search.all_matches = query.all_matches;
  search.synonyms = query.synonyms.get();
  search.fields = fields;
  search.minimum = query.minimum;
  return search;
}

}  // namespace

class KeywordIndex::Impl {
 public:
  Impl(const Store* store, Scope scope, const KeywordIndexOptions& options)
      : store(store),
        scope(scope),
        options(options),
        worker(store, scope, IndexFolder(store->data_folder(), scope), options) {}

  // An index that has seen all that the catalogue has holds no item that is deleted there: null.
  std::shared_ptr<const ItemSet> LiveBeside(const IndexSnapshot& snapshot) const {
    return catalog->position() > snapshot.position ? catalog->LiveItems() : nullptr;
  }

  // What the words of a query are, whatever they match.
  static SnapshotQuery WordsOf(const std::string& query, TypoTolerance typos, const SynonymView* synonyms,
                               const QueryFields& fields) {
    SnapshotQuery words{std::string_view(query).substr(0, kMaxQueryBytes)};
    words.typos = typos;
    words.synonyms = synonyms;
    words.fields = &fields;
    return words;
  }

  KeywordHits SearchRelaxed(const IndexSnapshot& snapshot, SnapshotQuery search, const KeywordQuery& query,
                            size_t limit, Deadline deadline) const;

  const Store* const store;
  const Scope scope;
  const Catalog* catalog = nullptr;  // once started
  const KeywordIndexOptions options;
  IndexWorker worker;
};

KeywordIndex::KeywordIndex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KeywordIndex::~KeywordIndex() = default;

absl::StatusOr<std::unique_ptr<KeywordIndex>> KeywordIndex::Open(Store* store, Scope scope,
                                                                 const Catalog* catalog,
                                                                 const KeywordIndexOptions& options) {
  auto index = Load(store, scope, options);
  if (index.ok()) (*index)->Start(catalog);
  return index;
}

absl::StatusOr<std::unique_ptr<KeywordIndex>> KeywordIndex::Load(Store* store, Scope scope,
                                                                 const KeywordIndexOptions& options) {
  if (!(options.bm25.k1 >= 0) || !(options.bm25.b >= 0 && options.bm25.b <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("bm25 has k1 ", options.bm25.k1, " and b ", options.bm25.b,
                                                   "; k1 takes 0 or more, b from 0 to 1"));
  }
  auto impl = std::make_unique<Impl>(store, scope, options);
  if (absl::Status status = impl->worker.Open(); !status.ok()) return status;
  return std::unique_ptr<KeywordIndex>(new KeywordIndex(std::move(impl)));
}

void KeywordIndex::Start(const Catalog* catalog) {
  impl_->catalog = catalog;
  impl_->worker.Start(catalog);
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
  if (query.all_matches && query.count_up_to != kCountAll) {
    return absl::InvalidArgumentError(
        "all_matches needs an exact total: a search that counts «at least» passes over matches");
  }
  const std::shared_ptr<const IndexSnapshot> snapshot = impl_->worker.snapshot();
  const std::shared_ptr<const ItemSet> live = impl_->LiveBeside(*snapshot);
  const CatalogQueryFields fields(snapshot->fields, *impl_->catalog,
                                  CatalogQueryFields::Conditions::kEvaluated);
  return impl_->SearchRelaxed(*snapshot, SnapshotQueryOf(query, live.get(), &fields), query, limit, deadline);
}

std::vector<ScoredItem> KeywordIndex::SearchTitles(const KeywordQuery& query, size_t limit,
                                                   Deadline deadline) const {
  if (query.query.size() > kMaxQueryBytes) return {};
  const std::shared_ptr<const IndexSnapshot> snapshot = impl_->worker.snapshot();
  const std::shared_ptr<const ItemSet> live = impl_->LiveBeside(*snapshot);
  const CatalogQueryFields fields(snapshot->fields, *impl_->catalog,
                                  CatalogQueryFields::Conditions::kEvaluated);
  return waymark::SearchTitles(*snapshot, SnapshotQueryOf(query, live.get(), &fields), impl_->options.bm25,
                               limit, deadline);
}

KeywordHits KeywordIndex::Impl::SearchRelaxed(const IndexSnapshot& snapshot, SnapshotQuery search,
                                              const KeywordQuery& query, size_t limit,
                                              Deadline deadline) const {
  std::vector<std::string> left_out = query.left_out;
  for (size_t round = 1;; ++round) {
    search.left_out = left_out;
    KeywordHits hits = SearchSnapshot(snapshot, search, options.bm25, limit, deadline);
    const auto next = [&] {
      search.left_out = left_out;
      return NextLeftOut(
          BindQuery(ParseFor(snapshot, search), snapshot, options.bm25, deadline, search.typos), snapshot);
    };
    std::optional<std::string> word;
    if (hits.complete && hits.total < query.relax_below && round <= kMaxRelaxations) word = next();
    if (!word) {
      hits.left_out = std::move(left_out);
      return hits;
    }
    left_out.push_back(*word);
    while (round == kMaxRelaxations && (word = next())) left_out.push_back(*word);
  }
}

void KeywordIndex::Fill(const std::string& query, absl::Span<Candidate> candidates, TypoTolerance typos,
                        const SynonymView* synonyms) const {
  const std::shared_ptr<const IndexSnapshot> snapshot = impl_->worker.snapshot();
  const CatalogQueryFields fields(snapshot->fields, *impl_->catalog, CatalogQueryFields::Conditions::kRead);
  FillKeywordSignals(*snapshot, impl_->WordsOf(query, typos, synonyms, fields), impl_->options.bm25,
                     candidates);
}

std::vector<std::optional<ScoreExplanation>> KeywordIndex::Explain(const std::string& query,
                                                                   absl::Span<const ItemOrdinal> items,
                                                                   Deadline deadline, TypoTolerance typos,
                                                                   const SynonymView* synonyms) const {
  const std::shared_ptr<const IndexSnapshot> snapshot = impl_->worker.snapshot();
  const CatalogQueryFields fields(snapshot->fields, *impl_->catalog, CatalogQueryFields::Conditions::kRead);
  const BoundQuery bound = BindQuery(ParseFor(*snapshot, impl_->WordsOf(query, typos, synonyms, fields)),
                                     *snapshot, impl_->options.bm25, deadline, typos);
  if (!bound.complete) return std::vector<std::optional<ScoreExplanation>>(items.size());
  return ExplainScores(*snapshot, bound, impl_->options.bm25, items, deadline);
}

std::vector<SynonymUse> KeywordIndex::SynonymsOf(const std::string& query,
                                                 const SynonymView& synonyms) const {
  const std::shared_ptr<const IndexSnapshot> snapshot = impl_->worker.snapshot();
  const CatalogQueryFields fields(snapshot->fields, *impl_->catalog, CatalogQueryFields::Conditions::kRead);
  return SynonymsUsed(ParseFor(*snapshot, impl_->WordsOf(query, TypoTolerance::kAuto, &synonyms, fields)));
}

std::string KeywordIndex::CorrectQuery(const std::string& query, TypoTolerance typos, Deadline deadline,
                                       const SynonymView* synonyms) const {
  const std::shared_ptr<const IndexSnapshot> snapshot = impl_->worker.snapshot();
  const CatalogQueryFields fields(snapshot->fields, *impl_->catalog, CatalogQueryFields::Conditions::kRead);
  const SnapshotQuery words = impl_->WordsOf(query, typos, synonyms, fields);
  const BoundQuery bound =
      BindQuery(ParseFor(*snapshot, words), *snapshot, impl_->options.bm25, deadline, typos);
  if (!bound.complete) return {};
  return CorrectedQuery(words.text, bound, *snapshot, *impl_->store, impl_->scope);
}

absl::StatusOr<std::unique_ptr<Highlighter>> KeywordIndex::MakeHighlighter(
    const std::string& query, TypoTolerance typos, const HighlightOptions& options, Deadline deadline,
    const SynonymView* synonyms) const {
  std::shared_ptr<const IndexSnapshot> snapshot = impl_->worker.snapshot();
  const CatalogQueryFields fields(snapshot->fields, *impl_->catalog, CatalogQueryFields::Conditions::kRead);
  const BoundQuery bound = BindQuery(ParseFor(*snapshot, impl_->WordsOf(query, typos, synonyms, fields)),
                                     *snapshot, impl_->options.bm25, deadline, typos);
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
