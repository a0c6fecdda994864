// A batch of the API on its way to the store: entries that do not even convert are refused here, the others
// are written together, and each gets its result in the order it came.
//
//   WriteBatch batch;
//   batch.Add(item.id(), PutItem{...});
//   batch.Add(item.id(), absl::InvalidArgumentError("item.id: ..."));
//   auto outcome = batch.Commit(collection);
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "pipeline/engine.h"
#include "waymark/v1/resource.pb.h"

namespace waymark {

inline constexpr int kMaxBatch = 1000;

// INVALID_ARGUMENT naming `field` unless 1 to 1,000.
absl::Status CheckBatchSize(int entries, std::string_view field);

struct WriteOutcome {
  struct Entry {
    std::string id;
    absl::Status status;
    int64_t version = 0;
    bool duplicate = false;
  };
  std::vector<Entry> entries;  // as they were added
  std::string consistency_token;

  int64_t duplicates() const;
  void Fill(google::protobuf::RepeatedPtrField<v1::WriteResult>* results) const;
};

class WriteBatch {
 public:
  void Add(std::string id, absl::StatusOr<Mutation> mutation);
  int size() const { return static_cast<int>(outcome_.entries.size()); }
  // Empties the batch. With nothing to write the token is that of `position`.
  absl::StatusOr<WriteOutcome> Commit(Collection* collection, const LogPosition& position);

 private:
  WriteOutcome outcome_;
  std::vector<Mutation> mutations_;
  std::vector<size_t> places_;  // of each mutation among the entries
};

}  // namespace waymark
