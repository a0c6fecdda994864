// An example of the ranker's training: one decision, as a ranking list. On the wire a tf.train.Example with
// the features
//
//   user        int64    the user's number, by which one that was erased is found
//   time        int64    microseconds since 1970, UTC, of what was taken
//   position    int64    its place in the log
//   candidates  int64[]  rows of items
//   gains       float[]  of each candidate, 0: not taken
//   features    float[]  [candidates, columns], unscaled: the columns that the index names
//   history     int64[]  rows of items, newest first; -1: not known
//   types       int64[]  event types of the history
//   query       int64[]  hashes of the query's words
//
// and an item's record with `row`, `id` (bytes), `content` (int64[]: hashes of its words and values) and
// `count` (int64: lists that are trained on and took it, or have it in their history).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "training/ranker/ranker_items.h"
#include "training/ranker/ranking_lists.h"

namespace waymark {

std::string PrintList(const RankingList& list);

// Owns what a list's views look at.
struct ListExample {
  std::vector<float> features, gains;
  std::vector<ItemOrdinal> candidates, history;
  std::vector<EventTypeCode> types;
  std::vector<uint64_t> query;
  int64_t time_us = 0;
  LogOffset position = 0;
  UserNumber user = 0;
  RankingList View() const {
    return {features, candidates, gains, history, types, query, time_us, position, user};
  }
};
// DATA_LOSS names the feature that is missing or does not fit. `columns`: of a candidate; `item_end`: rows
// are below it.
absl::Status ParseList(std::string_view record, size_t columns, int64_t item_end, ListExample* list);

std::string PrintListItem(const RankerItems::Known& item);
absl::Status ParseListItem(std::string_view record, int64_t item_end, RankerItems::Known* item);

// SHA-256 of what the above says.
std::string ListRecordSha256();

}  // namespace waymark
