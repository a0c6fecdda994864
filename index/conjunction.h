// Words that a document must all hold, with others that it may or must not hold: the rarest puts its
// documents forward, the others are asked about those, leaping from block to block, and blocks and documents
// whose bounds cannot come to what is needed are passed over.
#pragma once
#include "index/segment_algorithm.h"

namespace waymark {

struct Conjunction {
  static bool Serves(const BoundQuery& query, const HitCollector& hits);
  static bool Run(const BoundQuery& query, const SegmentView& segment, HitCollector* hits);
};
static_assert(SegmentAlgorithm<Conjunction>);

}  // namespace waymark
