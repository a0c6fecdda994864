#include "index/snapshot_search.h"

#include <algorithm>
#include <functional>

#include "index/conjunction.h"
#include "index/exhaustive_search.h"
#include "index/max_score.h"
#include "index/phrase_search.h"

namespace waymark {
namespace {

template <SegmentAlgorithm First, SegmentAlgorithm... Others>
bool RunFirstThatServes(const BoundQuery& query, const SegmentView& segment, HitCollector* hits) {
  if constexpr (sizeof...(Others) > 0) {
    if (!First::Serves(query, *hits)) return RunFirstThatServes<Others...>(query, segment, hits);
  }
  return First::Run(query, segment, hits);
}

}  // namespace

ParsedQuery ParseFor(const IndexSnapshot& snapshot, const SnapshotQuery& query) {
  const std::function<bool(std::string_view)> known = [&snapshot](std::string_view term) {
    return std::any_of(snapshot.segments.begin(), snapshot.segments.end(),
                       [term](const SegmentView& segment) {
                         const auto found = segment.postings->FindTerm(term);
                         return found && segment.live->document_count(*found) > 0;
                       });
  };
  return ParseQuery(query.text,
                    {&snapshot.analyzers, query.match_all, query.synonyms, query.fields, query.minimum,
                     query.left_out, query.typos == TypoTolerance::kOff ? nullptr : &known});
}

KeywordHits SearchSnapshot(const IndexSnapshot& snapshot, const SnapshotQuery& query, const Bm25Options& bm25,
                           size_t limit, Deadline deadline) {
  KeywordHits hits;
  const BoundQuery bound = BindQuery(ParseFor(snapshot, query), snapshot, bm25, deadline, query.typos);
  if (!bound.query.root) return hits;
  HitCollector collector(query, limit, deadline);
  hits.complete = bound.complete;
  int64_t least = 0;
  for (const SegmentView& segment : snapshot.segments) {
    least += MaxScore::LeastMatches(bound, segment, collector);
  }
  if (least > query.count_up_to) collector.StopCounting();
  for (size_t i = 0; i < snapshot.segments.size() && hits.complete; ++i) {
    collector.Enter(snapshot.segments[i]);
    hits.complete =
        !deadline.Expired() && RunFirstThatServes<MaxScore, Conjunction, PhraseSearch, ExhaustiveSearch>(
                                   bound, snapshot.segments[i], &collector);
  }
  hits.total = collector.seen();
  hits.total_exact = hits.complete && (collector.saw_all() || MaxScore::KnowsTotal(bound, collector));
  for (const auto& [score, item] : collector.top().Take()) hits.items.push_back({item, bound.Score(score)});
  hits.matches.reserve(collector.matches().size());
  for (const auto& [score, item] : collector.matches()) hits.matches.push_back({item, bound.Score(score)});
  return hits;
}

}  // namespace waymark
