// Private to recommend/: what a vector segment holds of FAISS.
#pragma once
#include <faiss/IndexFlat.h>
#include <faiss/IndexHNSW.h>

#include <memory>

#include "recommend/vector_segment.h"

namespace waymark {

struct VectorSegment::Faiss {
  std::unique_ptr<faiss::IndexFlat> flat;
  std::unique_ptr<faiss::IndexHNSW> graph;  // over `flat`; null in small segments
};

}  // namespace waymark
