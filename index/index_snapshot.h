// What searches run on: the segments of one moment, with the statistics over all of them.
//
// Immutable, shared by shared_ptr; thread-safe.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "index/analyzer.h"
#include "index/compiled_segment.h"
#include "index/field_analyzers.h"
#include "index/huge_pages.h"
#include "index/impact_bounds.h"
#include "index/indexed_fields.h"
#include "index/live_documents.h"
#include "index/variant_cache.h"

namespace waymark {

struct SegmentView {
  size_t number = 0;  // in the snapshot
  std::shared_ptr<const CompiledSegment> postings;
  std::shared_ptr<const LiveDocuments> live;
  std::vector<float> weights;  // [fields of the segment]
  int title = -1;              // the segment's field that is the items' title; -1: it has none
  // [documents]: sum over fields of weight * number of terms
  std::shared_ptr<const HugePageVector<float>> lengths;
  std::shared_ptr<const ImpactBounds> bounds;
};

struct IndexSnapshot {
  Analyzer analyzer{AnalysisSettings{}};  // the schema's
  FieldAnalyzers analyzers;
  IndexedFields fields;
  std::vector<SegmentView> segments;
  int64_t documents = 0;      // live ones
  double average_length = 0;  // mean of lengths over live documents
  LogOffset position = 0;     // searchable up to here
  std::shared_ptr<VariantCache> variants = std::make_shared<VariantCache>();
};

// A segment with what was deleted from it.
struct LiveSegment {
  std::shared_ptr<const CompiledSegment> postings;
  std::shared_ptr<const LiveDocuments> live;
};

// `previous` (null: none) lends what it has of segments with the same weights.
std::shared_ptr<const IndexSnapshot> MakeSnapshot(const AnalysisSettings& analysis,
                                                  const IndexedFields& fields,
                                                  const std::vector<LiveSegment>& segments,
                                                  const Bm25Options& bm25, LogOffset position,
                                                  const IndexSnapshot* previous);

}  // namespace waymark
