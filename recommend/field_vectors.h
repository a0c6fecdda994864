// The vectors that items carry in VECTOR fields, searched by nearness, and kept up with the log: one vector
// index a field (recommend/vector_index.h), with the field's own metric.
//
//   auto vectors = FieldVectors::Open(store, scope, catalog->schema());
//   (*vectors)->Apply(changes, read_up_to);
//   (*vectors)->Search("embedding", values, 100, allowed, {}, deadline);
//
// An index searches by inner product. COSINE: vectors are brought to unit length. EUCLIDEAN: a vector x is
// kept as (x, |x|^2) and asked by (2q, -1), whose product grows as the distance falls; the best are then
// measured exactly. Small indexes and those of DOT_PRODUCT and EUCLIDEAN are scanned whole up to a size,
// which is exact.
//
// Opened from checkpoints and the log's tail; made anew from the store when there is none, or it is damaged,
// which is set aside. Files: DATA/vectors/<tenant>-<collection>/field-<hash of the name>/. Thread-safe.
#pragma once
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "catalog/schema.h"
#include "recommend/log_reach.h"
#include "recommend/vector_index.h"
#include "store/part_check.h"
#include "store/store.h"

namespace waymark {

class FieldVectors {
 public:
  struct Options {
    size_t tail_limit = 4096;
    size_t cosine_flat_limit = 20'000, other_flat_limit = 200'000;  // vectors of a segment that is scanned
    size_t memory_limit_bytes = size_t{4} << 30;                    // of each field
  };
  static absl::StatusOr<std::unique_ptr<FieldVectors>> Open(const Store* store, Scope scope,
                                                            const std::shared_ptr<const Schema>& schema,
                                                            const Options& options);
  ~FieldVectors();

  // Takes over another schema: makes the indexes of fields that are new, or whose dimension or metric has
  // changed, from the store; lets others go.
  absl::Status Adopt(const std::shared_ptr<const Schema>& schema);
  // As LiveVectors::Apply.
  absl::Status Apply(absl::Span<const Change> changes, LogOffset up_to);
  LogOffset position() const { return reach_.position(); }
  // Whether there is a field at all: without one nothing is followed.
  bool any() const { return !Fields().empty(); }
  bool WaitFor(LogOffset offset, absl::Time until) const { return reach_.WaitFor(offset, until); }
  absl::Status Checkpoint();

  // Best first, ties by ordinal; scores: the cosine, the inner product, or minus the distance.
  // INVALID_ARGUMENT «vector.field: ...» or «vector.values: ...»: no such field, another dimension, no
  // numbers, no direction.
  absl::StatusOr<std::vector<ScoredItem>> Search(const std::string& field, absl::Span<const float> values,
                                                 size_t limit, const ItemSet* allowed,
                                                 absl::Span<const ItemOrdinal> excluded,
                                                 Deadline deadline) const;

  // Compares every item of the store with what is held; also beside writes.
  absl::Status Check(PartCheck* check) const;
  // Sets what is kept aside and makes all of it anew from the store.
  absl::Status Rebuild(const std::string& reason);

  struct FieldStatus {
    std::string field;
    size_t vectors = 0, memory_bytes = 0;
    std::filesystem::path folder;
    std::string rebuild_reason;  // why it was made anew; empty: it was not
  };
  std::vector<FieldStatus> status() const;

 private:
  struct Indexed {
    Field field;
    std::filesystem::path folder;
    std::shared_ptr<VectorIndex> index;
    std::string rebuild_reason;
  };
  FieldVectors(const Store* store, Scope scope, const Options& options);
  VectorIndexOptions IndexOptions(const Field& field) const;
  absl::StatusOr<Indexed> OpenField(const Field& field, LogOffset* position) const;
  // Under apply_mutex_.
  absl::Status Fill(Indexed* indexed) const;
  absl::Status Replay();
  std::vector<Indexed> Fields() const;
  void SetFields(std::vector<Indexed> fields);
  void WakeUpkeep();
  void Upkeep();

  const Store* const store_;
  const Scope scope_;
  const Options options_;
  const std::filesystem::path folder_;

  std::mutex apply_mutex_;
  mutable std::mutex fields_mutex_;
  std::vector<Indexed> fields_;  // under fields_mutex_; changed by who holds apply_mutex_ too
  LogReach reach_;

  std::mutex upkeep_mutex_;
  std::condition_variable upkeep_wake_;
  bool changed_ = true, stop_ = false;  // under upkeep_mutex_
  std::thread upkeep_;
};

// The folder of a collection's vectors, of all kinds.
std::filesystem::path VectorFolder(const std::filesystem::path& data, Scope scope);

}  // namespace waymark
