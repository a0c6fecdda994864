// One signal over the candidates of a list: which have it, its mean and deviation, and the ranks. What
// features and the weighted sum normalise by.
#pragma once
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "candidates/candidate.h"

namespace waymark {

class ListColumn {
 public:
  // Signal::kCount reads the fusion score.
  void Read(absl::Span<const Candidate> candidates, Signal signal);

  size_t size() const { return values_.size(); }
  bool Has(size_t i) const { return present_[i] != 0; }
  float value(size_t i) const { return values_[i]; }  // 0 where it is missing
  // 0 where it is missing, or where all values are equal.
  float Z(size_t i) const { return present_[i] ? static_cast<float>((values_[i] - mean_) * inverse_) : 0.f; }
  // [size()]: 1 for the largest, ties share the middle rank, missing ones come one after the last.
  const std::vector<float>& Ranks();

 private:
  std::vector<float> values_;
  std::vector<uint8_t> present_;
  size_t present_count_ = 0;
  double mean_ = 0, inverse_ = 0;  // inverse_: 1 / deviation, 0 when there is none
  std::vector<uint32_t> order_;
  std::vector<float> ranks_;
  bool ranked_ = false;
};

}  // namespace waymark
