// Keyword search over one collection: Lucene++ segments in DATA/index, caught up from the change feed, scored
// by exact BM25 with the true lengths of documents.
//
//   auto index = KeywordIndex::Open(&store, scope, &catalog, {});
//   (*index)->CatchUp(absl::InfiniteFuture());
//   auto hits = (*index)->Search({.query = "star wars"}, 10, Deadline::Never());
//
// Thread-safe: searches run on an immutable snapshot beside one writer.
#pragma once
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "candidates/candidate_source.h"
#include "candidates/typo_tolerance.h"
#include "catalog/catalog.h"
#include "index/analysis_settings.h"
#include "index/highlight.h"
#include "index/minimum_match.h"
#include "index/score_explanation.h"
#include "index/synonym_table.h"
#include "store/part_check.h"
#include "store/store.h"

namespace waymark {

struct Bm25Options {
  double k1 = 1.2;
  double b = 0.75;
};
struct KeywordIndexOptions {
  Bm25Options bm25;
  absl::Duration refresh_interval =
      absl::Seconds(1);  // of the background thread; zero: only CatchUp() refreshes
};

// Of KeywordQuery::count_up_to.
inline constexpr int64_t kCountAll = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kCountNone = 0;

struct KeywordQuery {
  std::string query;
  bool match_all = false;  // every word must match (unless the query says otherwise itself)
  std::shared_ptr<const ItemSet> allowed;
  std::vector<ItemOrdinal> excluded;  // sorted
  // Matches are counted exactly up to so many. As soon as there are known to be more, searches pass over what
  // cannot be among the best, and `total` is what is known at least.
  int64_t count_up_to = kCountAll;
  TypoTolerance typos = TypoTolerance::kAuto;
  bool all_matches = false;                     // fill KeywordHits::matches; goes with kCountAll
  std::shared_ptr<const SynonymView> synonyms;  // null: none
  MinimumMatch minimum;                         // of a query without operators
  // With fewer hits, words are left out of what must match, those that tell least first; 0: none are. So many
  // are always counted.
  int64_t relax_below = 0;
  std::vector<std::string> left_out;  // words, as they are typed, that need not match
};
struct KeywordHits {
  std::vector<ScoredItem> items;  // best first, ties by ordinal
  // In no order: every match that lives and is not excluded, also those that are not `allowed`, which is what
  // facets that leave a part of the filter out count.
  std::vector<ScoredItem> matches;
  int64_t total = 0;
  bool total_exact = true;
  bool complete = true;  // false: cut short by the deadline
  std::vector<std::string>
      left_out;  // words that need not match, since there were fewer than relax_below hits
};
struct KeywordIndexStatus {
  LogOffset position = 0;  // searchable up to here
  int64_t items = 0, segments = 0;
  int64_t bytes = 0;             // of the compiled postings in memory
  std::string error;             // of the last refresh, which is tried again; empty: it was good
  std::string rebuild_reason;    // why the index was last set aside or rebuilt; empty: never
  std::string recompile_reason;  // why a segment was last compiled again; empty: never
};

class Highlighter;

class KeywordIndex {
 public:
  // Opens DATA/index/<tenant>-<collection>; a missing, damaged or foreign-schema index is set aside and
  // rebuilt from the store by catching up from the start. Starts the refresh thread.
  static absl::StatusOr<std::unique_ptr<KeywordIndex>> Open(Store* store, Scope scope, const Catalog* catalog,
                                                            const KeywordIndexOptions& options);
  // Open() in two steps: the first reads the index's files, which may go beside the catalogue's start; all
  // else comes after the second.
  static absl::StatusOr<std::unique_ptr<KeywordIndex>> Load(Store* store, Scope scope,
                                                            const KeywordIndexOptions& options);
  void Start(const Catalog* catalog);
  ~KeywordIndex();

  // Makes everything up to the log's end at the time of the call (or `offset`) searchable.
  absl::Status CatchUp(absl::Time until);
  absl::Status CatchUpTo(LogOffset offset, absl::Time until);
  LogOffset position() const;

  // Items that are deleted in the catalogue never appear. Any input up to 10 kB gives hits or none, never an
  // error.
  absl::StatusOr<KeywordHits> Search(const KeywordQuery& query, size_t limit, Deadline deadline) const;
  // The `limit` items whose titles are nearest to being the query, of those whose titles hold all its words
  // (index/title_search.h). `total` and `matches` stay empty.
  std::vector<ScoredItem> SearchTitles(const KeywordQuery& query, size_t limit, Deadline deadline) const;
  // Keyword signals of these items for the query, whichever source found them. An item that the index does
  // not hold gets none; one that holds no word of the query has coverage 0 and no score.
  void Fill(const std::string& query, absl::Span<Candidate> candidates,
            TypoTolerance typos = TypoTolerance::kAuto, const SynonymView* synonyms = nullptr) const;
  // How the score of each of these items came about: the very score of Search() (and of the signals). None:
  // the index does not hold the item, or the deadline came. [items]
  std::vector<std::optional<ScoreExplanation>> Explain(const std::string& query,
                                                       absl::Span<const ItemOrdinal> items, Deadline deadline,
                                                       TypoTolerance typos = TypoTolerance::kAuto,
                                                       const SynonymView* synonyms = nullptr) const;
  // The query with the words that searches take for misspelled written as items have them («did you mean»);
  // empty: there are none, or the deadline came.
  std::string CorrectQuery(const std::string& query, TypoTolerance typos, Deadline deadline,
                           const SynonymView* synonyms = nullptr) const;
  // What of `synonyms` widens the query.
  std::vector<SynonymUse> SynonymsOf(const std::string& query, const SynonymView& synonyms) const;
  // Shows where items hold the words of the query. INVALID_ARGUMENT names the option.
  absl::StatusOr<std::unique_ptr<Highlighter>> MakeHighlighter(const std::string& query, TypoTolerance typos,
                                                               const HighlightOptions& options,
                                                               Deadline deadline,
                                                               const SynonymView* synonyms = nullptr) const;
  KeywordIndexStatus status() const;
  // Compares every item of the store with its document, term by term and position by position; also beside
  // writes. What differs goes into `check`. DEADLINE_EXCEEDED; else the store or the index cannot be read.
  absl::Status Check(Deadline deadline, PartCheck* check) const;
  // Sets the index aside and makes it anew from the store, beside the one that serves.
  absl::Status Rebuild(const std::string& reason);
  // Commits what has been indexed, so that the next start goes on from here.
  absl::Status Commit();

 private:
  class Impl;
  explicit KeywordIndex(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The pipeline's keyword source.
std::unique_ptr<CandidateSource> MakeKeywordSource(const KeywordIndex* index);
// Fill() for the request's query.
std::unique_ptr<SignalProvider> MakeKeywordSignals(const KeywordIndex* index);

}  // namespace waymark
