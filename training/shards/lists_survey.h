// What an export of lists says of all its files together: read from the files themselves, once they are
// written, so that an export that went on after a stop says the same.
#pragma once
#include <cstdint>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "training/ranker/feature_moments.h"
#include "training/shards/list_reader.h"

namespace waymark {

struct ListsSurvey {
  explicit ListsSurvey(size_t columns) : moments(columns) {}
  FeatureMoments moments;  // of the lists that are trained on
  // Items that any list names, ascending, with the lists that are trained on and took each or have it in
  // their history.
  std::vector<ItemOrdinal> items;
  std::vector<int64_t> counts;
  int64_t lists = 0, validation_lists = 0, with_query = 0;
  LogOffset first = 0, last = 0;  // of the lists that are trained on
  int64_t first_time_us = 0, last_time_us = 0;
};

// index: with files, validation, features and item_end. Does not depend on `threads`.
absl::StatusOr<ListsSurvey> SurveyLists(const ListReader& reader, const storage::ListsIndex& index,
                                        int threads, const std::stop_token& stop);

}  // namespace waymark
