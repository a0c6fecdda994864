// From sorted runs (index/posting_run.h) to the two forms of a segment: Lucene's files, which go through the
// fields one after the other, and the compiled postings, which go through the terms of all fields at once.
// Dead documents are left out, and those behind them move up.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "index/compiled_segment.h"
#include "index/lucene_segment_writer.h"
#include "index/posting_run.h"

namespace waymark {

// The runs of one segment.
struct SegmentRuns {
  absl::Span<const std::unique_ptr<PostingRun>> runs;
  // The numbers that the runs have for the searched fields, by the fields' names, of those in which a
  // document has a term.
  std::vector<uint32_t> fields;
  DocNumber first_doc = 0;
  std::vector<DocNumber> new_numbers;  // [document - first_doc]; kNoDoc: dead. Empty: none is

  DocNumber NewNumber(DocNumber doc) const {
    return new_numbers.empty() ? doc - first_doc : new_numbers[doc - first_doc];
  }
};

// `lucene_fields`: the writer's number of each of the fields.
absl::Status WriteLuceneTerms(const SegmentRuns& segment, absl::Span<const uint32_t> lucene_fields,
                              LuceneSegmentWriter* writer);

// `names`: of the fields.  ordinals: [live documents]
absl::StatusOr<std::shared_ptr<const CompiledSegment>> CompileRuns(const SegmentRuns& segment,
                                                                   const std::string& name,
                                                                   std::vector<std::string> names,
                                                                   std::vector<ItemOrdinal> ordinals);

}  // namespace waymark
