// All that the stages know of one request. Filled by the pipeline; sources, features and rankers read it.
#pragma once
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "candidates/typo_tolerance.h"
#include "catalog/item_set.h"
#include "google/protobuf/struct.pb.h"
#include "store/history.h"
#include "store/ids.h"

namespace waymark {

struct SynonymView;  // of index/

struct RequestContext {
  Scope scope;
  absl::Time now;
  UserNumber user = 0;  // 0: nobody known
  // Oldest first. Only events with a positive sign; at most 200.
  std::vector<HistoryEvent> history;
  // [width] of the retriever, unit length; empty without a retriever or a history.
  std::vector<float> user_vector;
  std::string query;
  bool match_all_words = false;  // every word of the query must match
  TypoTolerance typo_tolerance = TypoTolerance::kAuto;
  // Matches are counted exactly up to so many (index/keyword_index.h).
  int64_t count_up_to = std::numeric_limits<int64_t>::max();
  bool all_matches = false;                     // the keyword source answers every match beside the best
  std::shared_ptr<const SynonymView> synonyms;  // that widen the query; null: none
  std::string minimum_match;                    // of its words, as the API takes it; empty: one
  int64_t relax_below = 0;                      // with fewer hits, words are left out; 0: none are
  std::string surface;
  google::protobuf::Struct context;
  // What is looked at, and what to lean towards and away from.
  std::vector<ItemOrdinal> context_items, positive_items, negative_items;
  // Items that may be shown; null: all. Sources look only among these.
  std::shared_ptr<const ItemSet> allowed;
  // Items that must not be shown (seen before, negative); sorted. Sources leave them out.
  std::vector<ItemOrdinal> excluded;

  bool MayShow(ItemOrdinal item) const;
};

}  // namespace waymark
