// Mean and deviation of the features over the candidates of ranking lists, which the network standardises by.
// Moments of parts of the lists add up (Chan, Golub, LeVeque 1979), so that files are read one by one.
//
//   FeatureMoments all(columns);
//   all.Merge(MomentsOf(lists, chosen));
//   all.Scale(c);
#pragma once
#include <cstdint>
#include <vector>

#include "training/ranker/ranking_lists.h"

namespace waymark {

struct FeatureMoments {
  explicit FeatureMoments(size_t columns) : mean(columns, 0), squares(columns, 0) {}
  double rows = 0;
  std::vector<double> mean;
  std::vector<double> squares;  // of what differs from the mean, added up

  void Merge(const FeatureMoments& other);
  // The population's deviation; 1 of a column that never changes.
  double Scale(size_t column) const;
};

// Of all candidates of the lists `chosen`.
FeatureMoments MomentsOf(const RankingLists& lists, absl::Span<const size_t> chosen);

}  // namespace waymark
