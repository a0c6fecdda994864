// Many items into segments on several threads at once, for bulk loads: each thread analyses its share of the
// items and makes segments of it (index/bulk_part.h). These then move into the index (LuceneSegments::Adopt),
// so that it has the same form however it was filled.
//
//   auto bulk = BulkIndexer::Start({folder / "a", folder / "b"}, segments->BeginParts());
//   (*bulk)->Put(item, record, analysis);   // ...
//   auto made = (*bulk)->Finish();
//   segments->Adopt(*made);
//
// One thread calls.
#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "index/bulk_part.h"
#include "index/field_analyzers.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

// How items become terms, at one moment.
struct ItemAnalysis {
  IndexedFields fields;
  FieldAnalyzers analyzers;
};

class BulkIndexer {
 public:
  // A thread for each folder, which is made, or emptied. `first_segment`: LuceneSegments::BeginParts().
  static absl::StatusOr<std::unique_ptr<BulkIndexer>> Start(const std::vector<std::filesystem::path>& folders,
                                                            int first_segment,
                                                            const BulkPartLimits& limits = {});
  // Drops what was not finished, and the folders.
  ~BulkIndexer();

  // An item as it is now; what came of it before is replaced. Waits while its thread has enough to do. Errors
  // of the threads are answered by later calls.
  absl::Status Put(ItemOrdinal item, storage::ItemRecord record,
                   const std::shared_ptr<const ItemAnalysis>& analysis);
  // Of an item that Put() has taken.
  absl::Status Delete(ItemOrdinal item);
  bool Holds(ItemOrdinal item) const { return item < held_.size() && held_[item]; }

  // Waits until all is written and compiled. The segments lie in the folders.
  absl::StatusOr<std::vector<BulkSegment>> Finish();

 private:
  class Worker;
  BulkIndexer();

  std::vector<std::filesystem::path> folders_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<bool> held_;  // [ordinal]
};

}  // namespace waymark
