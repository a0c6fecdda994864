// For each block of postings, the most that a posting in it can score: what lets searches pass blocks over
// (block-max indexes; Ding and Suel, SIGIR 2011).
//
// A bound is made for one set of field weights and BM25 options, and for the average length of documents at
// the time. As documents come and go the average moves; bounds then hold with a factor, until they are loose
// enough to be made again (1 to 2 ns a posting).
//
// Immutable; thread-safe.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "index/bm25.h"
#include "index/compiled_segment.h"
#include "index/huge_pages.h"

namespace waymark {

class ImpactBounds {
 public:
  // lengths: [documents], weighted
  ImpactBounds(const CompiledSegment& segment, const std::vector<float>& weights,
               const HugePageVector<float>& lengths, const Bm25Options& bm25, double average_length);

  // Whether the bounds are good, and not too loose, for these.
  bool Serve(const Bm25Options& bm25, double average_length) const;
  // What a bound is multiplied by to hold under another average length.
  static double Factor(double made_for, double average_length);

  // [blocks of the segment]: tf / (tf + norm) at most this / kUnit.
  const uint16_t* of_block(uint64_t first) const { return blocks_.data() + first; }
  double average_length() const { return average_length_; }
  size_t memory_bytes() const { return blocks_.size() * sizeof(blocks_[0]); }

  static constexpr float kUnit = 65535;

 private:
  Bm25Options bm25_;
  double average_length_;
  std::vector<uint16_t> blocks_;
};

}  // namespace waymark
