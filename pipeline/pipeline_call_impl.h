// One request on its way through the stages of the pipeline. For the .cc files of this folder only:
// pipeline_call.cc has its way, pipeline_curation.cc what synonyms and rules do, pipeline_candidates.cc what
// is found and ranked, pipeline_page.cc what is shown.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "catalog/group_items.h"
#include "catalog/sort_items.h"
#include "index/highlighter.h"
#include "pipeline/answer_stage.h"
#include "pipeline/candidate_stage.h"
#include "pipeline/curation_stage.h"
#include "pipeline/facet_stage.h"
#include "pipeline/page_list.h"
#include "pipeline/pipeline.h"
#include "pipeline/rank_stage.h"

namespace waymark {

class Pipeline::Call {
 public:
  // `rivals`: releases whose lists are interleaved with this one's; empty: none.
  Call(const Pipeline& pipeline, const LoadedRelease& release, std::vector<const LoadedRelease*> rivals,
       const PipelineRequest& request, Deadline deadline)
      : pipeline_(pipeline),
        parts_(pipeline.parts_),
        release_(release),
        rivals_(std::move(rivals)),
        request_(request),
        deadline_(deadline) {}

  absl::StatusOr<PipelineResponse> Run();

 private:
  void Lap(const char* stage, absl::Time since) { response_.timings.push_back({stage, absl::Now() - since}); }

  absl::Status MakeContext();

  // «Did you mean».
  void CorrectQuery();

  // Looks up what synonyms and rules say of this request, and puts it into the context.
  void ApplyCuration();
  // Pins that no source has found take part all the same.
  void AddPinned(std::vector<Candidate>* candidates) const;
  // Pins beyond the query's matches are counted too.
  void CountPinned();
  void Boost(std::vector<RankedCandidate>* ranked);
  void DescribeCuration();

  // «experiment/arm» when it is an arm that answers.
  std::string Arm() const;

  bool WordsOnly() const { return request_.kind == RequestKind::kSearch && !context_.query.empty(); }

  // Whether a vector is asked for, and whether the list is made of matches rather than of all items.
  bool Near() const { return request_.kind == RequestKind::kSearch && request_.vector.has_value(); }
  bool Matching() const { return WordsOnly() || Near(); }

  // pipeline_vector.cc: asks the vectors; then the words too, all that takes part in matches_ and the total;
  // then makes one list of both.
  absl::Status FindNearest();
  absl::StatusOr<GatheredCandidates> GatherWithNearest(const CandidateLimits& limits);
  absl::StatusOr<std::vector<RankedCandidate>> GatherAndFuse();
  void DescribeNearness(RankedItem* item) const;

  bool Sorted() const { return !order_.keys.empty(); }
  bool Grouped() const { return request_.group_by.has_value(); }
  size_t PerGroup() const { return static_cast<size_t>(std::max(1, request_.group_by->limit)); }

  std::vector<const CandidateSource*> Sources() const;

  absl::StatusOr<std::vector<RankedCandidate>> GatherAndRank();

  // Asks the sources; all matches go into matches_.
  GatheredCandidates Gather(const CandidateLimits& limits);

  void CountTotal(const GatheredCandidates& gathered);

  // All that match, in the order that is asked for; ranking has no say in it.
  absl::StatusOr<std::vector<RankedCandidate>> GatherAndSort();

  absl::StatusOr<std::vector<ScoredItem>> SortAll() const;

  // Of all that match: in the order that is asked for, else by the words' score.
  absl::StatusOr<std::vector<ScoredItem>> BestOfGroups(size_t limit) const;

  // The most frequent group may hold more than the best that are ranked.
  void AddBestOfGroups(size_t most, std::vector<Candidate>* candidates);

  void FillAllSignals(std::vector<Candidate>* candidates);

  // `given`: signals that the caller brings, by item; they take the place of our own.
  absl::StatusOr<std::vector<RankedCandidate>> Rank(
      std::vector<Candidate> candidates,
      const std::vector<std::pair<ItemOrdinal, const GivenCandidate*>>& given);

  static std::vector<RankedCandidate> AsMerged(std::vector<Candidate> candidates);

  absl::Status MakeList();

  // Makes list_ one with the rivals', where that can be (pipeline_interleave.cc).
  void InterleaveWithRivals();
  // Nothing but ranking says what stands where in list_.
  bool FreelyRanked() const;

  absl::Status FillUpWithoutFilter(std::vector<RankedCandidate>* ranked, size_t wanted);

  absl::Status Arrange(std::vector<RankedCandidate> ranked);
  // pipeline_explore.cc: gives a share of the places to items drawn at random, which are scored and added.
  absl::Status DrawPlaces(std::vector<RankedCandidate>* ranked, std::vector<size_t>* order);
  // All that may be shown at any place.
  ItemSet MayBeDrawn() const;

  absl::Status AddFacets();

  absl::Status RankGiven();

  absl::Status CutPage();

  absl::Status MakeHighlighter();

  void Highlight(const storage::ItemRecord& record, RankedItem* out);

  void NameGroups();

  // How far each item of the page is from the point of the order, else of the filter.
  void MeasureDistances();

  // How the words' score of each item of the page came about.
  void ExplainWords();

  RankedItem MakeItem(size_t index, const storage::ItemRecord& record);

  void Sign();

  void LogServed(absl::Time start);

  const Pipeline& pipeline_;
  const PipelineParts& parts_;
  const LoadedRelease& release_;
  const std::vector<const LoadedRelease*> rivals_;
  const PipelineRequest& request_;
  const Deadline deadline_;
  RequestContext context_;
  std::shared_ptr<const Filter> filter_;
  Curated curated_;
  std::vector<CheckedFacet> facets_;
  SortOrder order_;
  Field group_field_;  // when group_by is set
  std::vector<ScoredItem>
      matches_;  // of the words, whatever the filter; when facets or an order ask for them
  std::vector<ScoredItem> nearest_;  // to the vector, best first
  PageList list_;
  absl::flat_hash_map<ItemOrdinal, storage::Exploration> explored_;  // of lists that explore
  std::unique_ptr<Highlighter> highlighter_;                         // null: nothing is highlighted
  std::vector<RankedCandidate> details_;                             // of list_, on the first page
  size_t strict_items_ =
      kMaxPagedItems;  // items of list_ that were found under the filter and the exclusions
  PipelineResponse response_;
};

}  // namespace waymark
