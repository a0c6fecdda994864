// What a site sends and what the coordinator reads from the sum: the update, weighted and on the fixed-point
// grid, and behind it a few statistics of the site, weighted alike, so that of those too only the sum is
// seen.
//
//   auto words = EncodeUpdate(plan, &update);            // a site: clips, weighs, encodes
//   auto sum = DecodeSum(plan, words_of_sum, survivors);   // the coordinator, after the masks are off
#pragma once
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "training/federated/model/site_trainer.h"

namespace waymark {

// Words of an update whose model has `numbers`.
size_t UpdateWords(size_t numbers);

// Clips update->moved in place. INVALID_ARGUMENT: a number that is not finite.
absl::StatusOr<std::vector<uint64_t>> EncodeUpdate(const federated::Plan& plan, LocalUpdate* update);

struct UpdateSum {
  std::vector<float> weighted;  // sum of weight * update
  double weight = 0;            // sum of the weights; with noise the number of survivors
  int64_t events = 0;           // 0 with noise, as are the two means
  std::optional<double> loss, ndcg10;
};

// INVALID_ARGUMENT: no sum of clipped updates can be so large, so some site sent something else.
absl::StatusOr<UpdateSum> DecodeSum(const federated::Plan& plan, absl::Span<const uint64_t> words,
                                    size_t survivors);

}  // namespace waymark
