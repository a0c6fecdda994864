#include "index/index_snapshot.h"

#include <algorithm>

namespace waymark {
namespace {

std::shared_ptr<const HugePageVector<float>> WeightedLengths(const CompiledSegment& segment,
                                                             const std::vector<float>& weights) {
  auto lengths = std::make_shared<HugePageVector<float>>(segment.doc_count());
  for (size_t field = 0; field < weights.size(); ++field) {
    for (DocNumber doc = 0; doc < segment.doc_count(); ++doc) {
      (*lengths)[doc] += weights[field] * static_cast<float>(segment.length(field, doc));
    }
  }
  return lengths;
}

SegmentView MakeView(const LiveSegment& segment, const IndexedFields& fields, const IndexSnapshot* previous) {
  SegmentView view{0, segment.postings, segment.live, {}, -1, nullptr, nullptr};
  const std::vector<std::string>& names = segment.postings->fields();
  for (size_t i = 0; i < names.size(); ++i) {
    const IndexedField* field = fields.Find(names[i]);
    // A field that is no longer searched (its index is about to be rebuilt) counts for nothing.
    view.weights.push_back(field == nullptr ? 0 : static_cast<float>(field->weight));
    if (field != nullptr && field->title) view.title = static_cast<int>(i);
  }
  if (previous != nullptr) {
    for (const SegmentView& old : previous->segments) {
      if (old.postings != view.postings || old.weights != view.weights) continue;
      view.lengths = old.lengths;
      view.bounds = old.bounds;
    }
  }
  if (!view.lengths) view.lengths = WeightedLengths(*view.postings, view.weights);
  return view;
}

}  // namespace

std::shared_ptr<const IndexSnapshot> MakeSnapshot(const AnalysisSettings& analysis,
                                                  const IndexedFields& fields,
                                                  const std::vector<LiveSegment>& segments,
                                                  const Bm25Options& bm25, LogOffset position,
                                                  const IndexSnapshot* previous) {
  auto snapshot = std::make_shared<IndexSnapshot>();
  snapshot->analyzer = Analyzer(analysis);
  snapshot->analyzers = FieldAnalyzers(analysis, fields);
  snapshot->fields = fields;
  snapshot->position = position;
  double total_length = 0;
  for (const LiveSegment& segment : segments) {
    if (segment.live->count() == 0) continue;
    SegmentView view = MakeView(segment, fields, previous);
    snapshot->documents += segment.live->count();
    for (size_t field = 0; field < view.weights.size(); ++field) {
      total_length += static_cast<double>(view.weights[field]) * segment.live->total_length(field);
    }
    view.number = snapshot->segments.size();
    snapshot->segments.push_back(std::move(view));
  }
  if (snapshot->documents > 0) snapshot->average_length = total_length / snapshot->documents;
  for (SegmentView& view : snapshot->segments) {
    if (view.bounds && view.bounds->Serve(bm25, snapshot->average_length)) continue;
    view.bounds = std::make_shared<ImpactBounds>(*view.postings, view.weights, *view.lengths, bm25,
                                                 snapshot->average_length);
  }
  return snapshot;
}

}  // namespace waymark
