// A query that is one phrase: positions are read only of documents that hold all its words, and only where
// their frequencies leave the phrase a chance.
#pragma once
#include "index/segment_algorithm.h"

namespace waymark {

struct PhraseSearch {
  static bool Serves(const BoundQuery& query, const HitCollector& hits);
  static bool Run(const BoundQuery& query, const SegmentView& segment, HitCollector* hits);
};
static_assert(SegmentAlgorithm<PhraseSearch>);

}  // namespace waymark
