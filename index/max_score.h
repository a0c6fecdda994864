// Words of which a document must hold one: block-max MaxScore.
//
// Lists are ordered by the most that they can add to a score. Those at the end which, all together, cannot
// bring a document among the best are only asked about documents that the others put forward (Turtle and
// Flood, "Query evaluation: strategies and optimizations", IPM 1995), with bounds that hold for one window of
// documents at a time (Dimopoulos et al., WSDM 2013); within a window lists are added one after the other.
#pragma once
#include "index/segment_algorithm.h"

namespace waymark {

struct MaxScore {
  static bool Serves(const BoundQuery& query, const HitCollector& hits);
  static bool Run(const BoundQuery& query, const SegmentView& segment, HitCollector* hits);
  // Whether the index has counted the matches already: those of one word.
  static bool KnowsTotal(const BoundQuery& query, const HitCollector& hits);
  // How many of the segment match at least, without a look at postings: those of the most frequent word.
  static int64_t LeastMatches(const BoundQuery& query, const SegmentView& segment, const HitCollector& hits);
};
static_assert(SegmentAlgorithm<MaxScore>);

}  // namespace waymark
