// One thread's share of a bulk load: items into Lucene segments and, in the same go, into what they are
// compiled to. Documents are inverted in memory; what does not fit goes to sorted runs in files; in the end
// the runs are merged into segments. That spares what Lucene++ does for each posting, its merges of segments,
// and reading them back. (Single-pass in-memory indexing: Heinz and Zobel, JASIST 54(8), 2003.)
//
//   BulkPart part(folder, /*first_segment=*/7);
//   part.Put(item, terms);
//   auto segments = part.Finish();        // LuceneSegments::Adopt takes them
//
// Not thread-safe.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "index/compiled_segment.h"
#include "index/lucene_segments.h"
#include "index/posting_run.h"
#include "index/term_postings_table.h"

namespace waymark {

// What a document takes in a segment beside its words.
inline constexpr size_t kBytesOfBulkDocument = 16;

struct BulkPartLimits {
  // Of the postings in memory, with kBytesOfBulkDocument for each document; what passes it goes to a file.
  size_t table_bytes = size_t{64} << 20;
  // Of the runs that become one segment, with as much for each document. Finish() takes about twice as much
  // memory; and each file of a segment stays far below the 2 GiB that Lucene++'s numbers of 32 bits reach to.
  uint64_t segment_bytes = uint64_t{256} << 20;
};

class BulkPart {
 public:
  // Writes into a folder that is there. Segments are named by numbers from `first_segment` on, of which the
  // part may use kSegmentNamesOfPart.
  BulkPart(std::filesystem::path folder, int first_segment, const BulkPartLimits& limits = {});

  // An item as it is now, in place of what was put of it before. INVALID_ARGUMENT: it has too many words.
  absl::Status Put(ItemOrdinal item, absl::Span<const FieldTerms> fields);
  void Delete(ItemOrdinal item);
  // Writes and compiles everything. Nothing may be added later.
  absl::StatusOr<std::vector<BulkSegment>> Finish();

 private:
  using Runs = absl::Span<const std::unique_ptr<PostingRun>>;
  struct Deletion {
    ItemOrdinal item;
    DocNumber end;  // of documents before it
  };

  uint32_t FieldNumber(const std::string& name, size_t likely);
  size_t BytesOfRun() const {
    return table_.memory_bytes() + kBytesOfBulkDocument * (ordinals_.size() - first_of_run_);
  }
  absl::Status WriteRun();
  std::vector<bool> FindDead() const;
  absl::StatusOr<BulkSegment> WriteSegment(int number, Runs runs, const std::vector<bool>& dead) const;

  const std::filesystem::path folder_;
  const int first_segment_;
  const BulkPartLimits limits_;
  std::vector<std::string> fields_;  // by the order in which documents had them
  absl::flat_hash_map<std::string, uint32_t> field_numbers_;
  TermPostingsTable table_;
  std::vector<std::unique_ptr<PostingRun>> runs_;
  std::vector<ItemOrdinal> ordinals_;  // [document]
  DocNumber first_of_run_ = 0;         // the first document that the table holds
  std::vector<Deletion> deletions_;
};

}  // namespace waymark
