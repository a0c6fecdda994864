#include "index/impact_bounds.h"

#include <algorithm>
#include <cmath>

#include "index/posting_block.h"

namespace waymark {
namespace {

// How far the average length may move before bounds are made again.
constexpr double kDrift = 1.05;
// For the rounding of scores, which are worked out in float.
constexpr float kRounding = 1.00001f;

}  // namespace

ImpactBounds::ImpactBounds(const CompiledSegment& segment, const std::vector<float>& weights,
                           const HugePageVector<float>& lengths, const Bm25Options& bm25,
                           double average_length)
    : bm25_(bm25), average_length_(average_length), blocks_(segment.block_count()) {
  const Bm25Lengths norm(bm25, average_length);
  for (TermIndex term = 0; term < segment.term_count(); ++term) {
    PostingBlockReader reader(segment, term);
    for (size_t block = 0; block < reader.block_count(); ++block) {
      const auto docs = reader.ReadFrequencies(block, weights);
      float greatest = 0;
      for (size_t i = 0; i < docs.size(); ++i) {
        const float tf = reader.frequencies()[i];
        const float denominator = tf + norm.Norm(lengths[docs[i]]);
        greatest = std::max(greatest, tf / std::max(denominator, kLeastDenominator));
      }
      blocks_[reader.first_block() + block] =
          static_cast<uint16_t>(std::min(kUnit, std::ceil(greatest * kRounding * kUnit)));
    }
  }
}

bool ImpactBounds::Serve(const Bm25Options& bm25, double average_length) const {
  return bm25.k1 == bm25_.k1 && bm25.b == bm25_.b && average_length < average_length_ * kDrift &&
         average_length_ < average_length * kDrift;
}

double ImpactBounds::Factor(double made_for, double average_length) {
  // tf + c + s * l with s in inverse proportion to the average: it shrinks at most as the average grows.
  return average_length > made_for && made_for > 0 ? average_length / made_for : 1;
}

}  // namespace waymark
