// The training data of a ranker, in memory: for each past decision the candidates with their features, what
// the user had done before, the query's words, and which candidate was taken.
//
//   RankingLists lists(FeatureTable::Current().size(), {});
//   absl::Status added = lists.Add(list);   // ranking_list_builder.h makes them of requests
//
// Features must come from counts and a retriever that have not seen the target: a ranker that is trained on
// in-sample signals falls below its own retriever.
#pragma once
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "store/event_types.h"
#include "store/ids.h"

namespace waymark {

struct RankingListsOptions {
  // Of the values; the arrays may take up to twice as much while they grow.
  size_t limit_bytes = size_t{2} << 30;
};

struct RankingList {
  absl::Span<const float> features;          // [candidates, features]
  absl::Span<const ItemOrdinal> candidates;  // [candidates]
  absl::Span<const float> gains;             // [candidates], 0: not taken
  absl::Span<const ItemOrdinal> history;     // newest first
  absl::Span<const EventTypeCode> types;     // of the history
  absl::Span<const uint64_t> query;          // hashes of its words
  int64_t time_us = 0;
  LogOffset position = 0;
  UserNumber user = 0;  // whose decision it was; 0: not known
};

// Flat arrays; not thread-safe while lists are added.
class RankingLists {
 public:
  RankingLists(size_t features, const RankingListsOptions& options)
      : features_(features), options_(options) {}

  // Copies. RESOURCE_EXHAUSTED: the memory limit is reached (the list is left out and counted).
  // INVALID_ARGUMENT: sizes that do not fit, no gain, a feature or gain that is not finite.
  absl::Status Add(const RankingList& list);
  // A decision whose target is not among its candidates teaches nothing; it is counted only.
  void CountWithoutTarget() { ++without_target_; }
  // As new, with the memory that it has.
  void Clear();

  size_t size() const { return lists_.size(); }
  RankingList operator[](size_t i) const;  // views, until the next Add
  size_t feature_count() const { return features_; }
  size_t candidate_count() const { return candidates_.size(); }
  int64_t with_query() const { return with_query_; }
  int64_t without_target() const { return without_target_; }
  int64_t over_limit() const { return over_limit_; }
  size_t bytes() const;

 private:
  struct Start {
    uint64_t candidate = 0, history = 0, query = 0;
    uint32_t candidates = 0, histories = 0, queries = 0;
    int64_t time_us = 0;
    LogOffset position = 0;
    UserNumber user = 0;
  };
  size_t features_;
  RankingListsOptions options_;
  std::vector<Start> lists_;
  std::vector<float> rows_;
  std::vector<ItemOrdinal> candidates_, history_;
  std::vector<float> gains_;
  std::vector<EventTypeCode> types_;
  std::vector<uint64_t> query_;
  int64_t with_query_ = 0, without_target_ = 0, over_limit_ = 0;
};

}  // namespace waymark
