// Any query, by scoring all that its words hold: what the other algorithms are measured against, and what
// serves queries with more structure or an exact count of matches.
#pragma once
#include "index/segment_algorithm.h"

namespace waymark {

struct ExhaustiveSearch {
  static bool Serves(const BoundQuery& query, const HitCollector& hits);
  static bool Run(const BoundQuery& query, const SegmentView& segment, HitCollector* hits);
};
static_assert(SegmentAlgorithm<ExhaustiveSearch>);

}  // namespace waymark
