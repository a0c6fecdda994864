// A search, a feed or a ranking call, without its transport.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "candidates/candidate.h"
#include "candidates/typo_tolerance.h"
#include "catalog/facet.h"
#include "google/protobuf/struct.pb.h"
#include "index/highlight.h"
#include "index/score_explanation.h"
#include "index/synonym_table.h"
#include "rank/ranker.h"
#include "store/log_position.h"
#include "waymark/storage/models.pb.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

enum class RequestKind { kSearch, kRecommend, kRank };
enum class CurationMode { kOn, kOff };
enum class PersonalizationMode { kAuto, kSessionOnly, kOff };

struct ExcludeSeen {
  std::vector<std::string> types;  // empty: every type that names an item, but impressions
  std::optional<absl::Duration> within;
  bool disabled = false;
};

// A candidate that the caller of Rank brings, with signals by name.
struct GivenCandidate {
  std::string item_id;
  std::map<std::string, double> features;
};

// What is counted over all that a search matches.
struct FacetAsked {
  FacetSpec spec;
  // Fields whose comparisons are left out of the filter for this facet; `disjunctive`: its own too.
  std::vector<std::string> excluded_filter_fields;
  bool disjunctive = false;
};

// A place of a list that is made of several: which it comes from (0: the release's, then its rivals'), and
// its place there.
struct InterleavedPlace {
  int list = 0;
  size_t place = 0;
};
using Interleaver =
    std::function<std::vector<InterleavedPlace>(const std::vector<std::vector<ItemOrdinal>>& lists)>;

struct GroupAsked {
  std::string field;
  int limit = 0;  // items of each group; 0: 1
};

// Items near to a vector, alone or beside the words.
struct VectorAsked {
  std::string field;
  std::vector<float> values;
  int limit = 0;  // of the nearest; 0: kDefaultNearest
  enum class Fusion { kRanks, kScores };
  Fusion fusion = Fusion::kRanks;
  double weight = 0.5;  // of the vector; the words have the rest
};
inline constexpr int kDefaultNearest = 100, kMostNearest = 500;

// More than anyone looks through, and as many as cost little to count.
inline constexpr int64_t kDefaultExactTotal = 10'000;

struct PipelineRequest {
  RequestKind kind = RequestKind::kSearch;
  std::string query;
  bool match_all = false;
  TypoTolerance typo_tolerance = TypoTolerance::kAuto;
  std::string minimum_match;  // of kSearch; empty: one word, or all with match_all
  int relax_below = 0;        // of kSearch
  // Of kSearch: matches are counted exactly up to so many; facets, orders, groups and vectors count all.
  int64_t exact_total_limit = kDefaultExactTotal;
  std::optional<HighlightOptions> highlight;
  std::string user_id, visitor_id, session_id, surface;
  google::protobuf::Struct context;
  std::string filter;
  bool strict_filter = true;
  std::vector<std::string> context_items, positive_items, negative_items;  // item ids
  ExcludeSeen exclude_seen;
  double diversity = 0;    // 0..1
  double exploration = 0;  // of kRecommend: share of places that are drawn at random, 0..1
  int page_size = 0;       // 0: the default of the kind; negative: INVALID_ARGUMENT
  std::string page_token;
  PersonalizationMode personalization = PersonalizationMode::kAuto;
  std::string consistency_token;
  bool explain = false;
  std::string release;  // empty: the active one
  // What an experiment has drawn; `release` goes before it, and so does the release that made the list that a
  // page belongs to. One that is not loaded (the experiment has ended meanwhile) is passed over.
  std::string arm_release;
  std::string arm;  // «experiment/arm» of arm_release; what its release serves is logged under this name
  // The list of arm_release and those of these releases become one, by `interleave`. Not where an order,
  // groups or pins say what stands where, where a filter left too little, or where one of them is not loaded.
  std::vector<std::string> rival_releases;
  Interleaver interleave;  // null: nothing is interleaved
  // A copy of a request that has been answered: nothing of it is logged.
  bool copy = false;
  std::string request_id;                     // empty: a new one
  int per_source_limit = 0, rank_limit = 0;   // 0: the plan's
  std::vector<GivenCandidate> given;          // of kRank
  std::vector<std::string> fields;            // item fields to return; empty: all
  std::vector<FacetAsked> facets;             // of kSearch
  std::string order_by;                       // of kSearch; empty: by rank
  std::optional<GroupAsked> group_by;         // of kSearch and kRecommend
  std::optional<VectorAsked> vector;          // of kSearch
  CurationMode curation = CurationMode::kOn;  // of kSearch and kRecommend
};

struct SourceHit {
  std::string name;
  double score = 0;
  int rank = 0;
};
// What an item is grouped under.
struct ItemGroup {
  std::optional<std::string> value;  // none: the item lacks the field and stands alone
};
struct RankedItem {
  ItemOrdinal item = kNoItem;  // kNoItem: a candidate of kRank that is not in the catalogue
  storage::ItemRecord record;  // as it is now, with the requested fields; for kRank the id only
  double score = 0;
  std::map<std::string, double> scores;
  std::vector<SourceHit> sources;
  std::vector<Contribution> explanation;
  std::optional<ScoreExplanation> keyword_explanation;  // of searches by words that ask for it
  std::vector<TextHighlight> highlights;
  std::optional<ItemGroup> group;                   // of grouped requests
  std::optional<double> distance_metres;            // of requests that speak of a distance
  bool pinned = false;                              // put at its place by a rule
  std::optional<storage::Exploration> exploration;  // of lists that explore, but for pins
};
struct Degraded {
  std::string stage, reason;
};
struct Timing {
  std::string stage;
  absl::Duration time;
};

struct FacetAnswer {
  std::string field;
  FacetCounts counts;
};

struct PipelineResponse {
  std::vector<RankedItem> items;
  int64_t total = -1;  // of searches
  bool total_exact = true;
  std::string corrected_query;      // empty: nothing is misspelled
  std::vector<FacetAnswer> facets;  // as asked for, but for those that came too late
  std::string next_page_token, request_id, attribution_token;
  std::string release, retriever, ranker;  // "none", "", "weighted-sum" while nothing is released
  std::vector<Degraded> degraded;
  std::vector<Timing> timings;
  std::vector<std::string> unknown_item_ids;  // of kRank
  std::vector<SynonymUse> synonyms;           // that widened the query
  std::vector<std::string> rules;             // ids of those that hold, in the order in which they count
  std::string redirect_uri, replacement_query;
  std::vector<std::string> left_out_words;  // of the query, since with them there were too few hits
  // Of an interleaved list: its items in order, page by page, and by place 1 (arm_release), 2 (its first
  // rival), ...
  std::vector<ItemOrdinal> interleaved_items;
  std::string teams;
};

}  // namespace waymark
