// The seam between a search and the ways to do it: one file an algorithm, each of them exact.
#pragma once
#include <concepts>

#include "index/bound_query.h"
#include "index/hit_collector.h"

namespace waymark {

template <typename A>
concept SegmentAlgorithm = requires(const BoundQuery& query, const SegmentView& segment, HitCollector* hits) {
  // Whether it finds what the query asks and counts what the collector wants counted.
  { A::Serves(query, *hits) } -> std::same_as<bool>;
  // Offers every document that may be among the best. False: the deadline came.
  { A::Run(query, segment, hits) } -> std::same_as<bool>;
};

}  // namespace waymark
