// Updates as whole numbers modulo 2^64, so that sums of masked ones are exact.
//
// 32 bits would not do: a grid that reaches to the sum of all sites' largest updates is then coarser than
// what a site with few events moves, whose update would be cut to nothing.
//
// The grid is as fine as it can be while the sum of `most_sites` values of size `bound` does not wrap round.
// Values are cut towards zero, so that a vector's norm never grows beyond what it was clipped to.
//
//   FixedPoint grid(bound, 64);
//   auto words = grid.Encode(update);         // refuses what is not finite or out of the bound
//   std::vector<float> sum = grid.Decode(words_of_sum);
#pragma once
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace waymark {

class FixedPoint {
 public:
  FixedPoint(double bound, size_t most_sites);
  double step() const { return 1 / scale_; }  // distance of two values

  // INVALID_ARGUMENT names the place of a value that is not finite, or larger than the bound.
  absl::StatusOr<std::vector<uint64_t>> Encode(absl::Span<const float> values) const;
  std::vector<float> Decode(absl::Span<const uint64_t> words) const;

 private:
  double bound_, scale_;
};

}  // namespace waymark
