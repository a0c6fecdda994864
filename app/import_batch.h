// Rows on their way to the store, a batch at a time: what is collected, sent, and said of each line.
//
//   auto batch = MakeImportBatch(RowKind::kItem, parent);
//   absl::Status status = batch->Add(row);      // why the row is refused
//   if (batch->Full()) auto outcome = batch->Send(backend);
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "app/backend.h"
#include "store/rows/row_reader.h"

namespace waymark {

struct RefusedLine {
  int64_t line = 0;
  std::string reason;
};

struct BatchOutcome {
  int64_t written = 0, duplicates = 0, refused = 0;
  std::vector<RefusedLine> refusals;  // the first of them
};

// One thread.
class ImportBatch {
 public:
  virtual ~ImportBatch() = default;
  // INVALID_ARGUMENT: the row is no item, user or event.
  absl::Status Add(Row row);
  bool Full() const;
  bool Empty() const { return lines_.empty(); }
  // The line of the last row that was added.
  int64_t last_line() const { return lines_.back(); }
  // Empties the batch when it went well. Waits and tries again while a server is too busy.
  absl::StatusOr<BatchOutcome> Send(Backend* backend);

 protected:
  virtual absl::StatusOr<size_t> Take(google::protobuf::Struct fields) = 0;  // bytes
  virtual absl::StatusOr<BatchOutcome> SendOnce(Backend* backend) = 0;
  virtual void Clear() = 0;
  int64_t LineOf(int64_t place) const { return lines_[place]; }

 private:
  std::vector<int64_t> lines_;  // of each entry
  size_t bytes_ = 0;
};

// What becomes of an item that is there: it is replaced, or only the fields that the row has are.
enum class ItemWriting { kPut, kUpdate };
std::unique_ptr<ImportBatch> MakeImportBatch(RowKind kind, const std::string& parent,
                                             ItemWriting writing = ItemWriting::kPut);

}  // namespace waymark
