// An example of the retriever's training: one user's history. On the wire a tf.train.Example with the
// features
//
//   user       int64   the user's number, by which one that was erased is found
//   items      int64[] rows of the items in the index's `items` file, oldest first; -1: not among them
//   times      int64[] microseconds since 1970, UTC
//   held_out   int64   how many of the newest events are not trained on; the first of those is what the
//                      validation predicts
//
// and an item's record with `id` (bytes) and `content` (int64[]: hashes of its words and values, as the
// retriever's content table folds them).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace waymark {

struct HistoryExample {
  uint64_t user = 0;
  std::vector<int64_t> rows, times_us;  // of the same length
  size_t held_out = 0;
};

std::string PrintHistory(const HistoryExample& example);
// DATA_LOSS names the feature that is missing or does not fit. `items`: rows are below it.
absl::Status ParseHistory(std::string_view record, int64_t items, HistoryExample* example);

struct ItemRecord {
  std::string id;
  std::vector<uint64_t> content;
};

std::string PrintItem(const ItemRecord& item);
absl::Status ParseItem(std::string_view record, ItemRecord* item);

// What the above says, in order, and its SHA-256.
const std::vector<std::string>& HistoryFeatures();
std::string HistoryFeaturesSha256();

}  // namespace waymark
