// Reads a Lucene++ segment into a CompiledSegment. Private to index/.
#pragma once
#include <lucene++/LuceneHeaders.h>

#include <memory>

#include "absl/status/statusor.h"
#include "index/compiled_segment.h"

namespace waymark::lucene_impl {

// May throw what Lucene++ throws. DATA_LOSS: terms out of order.
absl::StatusOr<std::shared_ptr<const CompiledSegment>> CompileSegment(const Lucene::IndexReaderPtr& segment,
                                                                      std::string name);

}  // namespace waymark::lucene_impl
