// What was served: one record an answer, in a RocksDB of its own (DATA/served).
//
// An answer never waits for it: records go into a bounded queue, and a thread writes them, without an fsync.
// What finds the queue full, or the disk, is dropped and counted. Records past their retention are no longer
// read, and are removed from the disk.
//
//   auto served = ServedLog::Open("data", {});
//   (*served)->Append(scope, record);
//   auto record = (*served)->Find(scope, request_id);
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "store/clock.h"
#include "store/ids.h"
#include "waymark/storage/models.pb.h"

namespace waymark {

struct ServedLogOptions {
  bool read_only = false;
  absl::Duration retention = absl::Hours(30 * 24);
  size_t queue_bytes = 16 << 20;
  // How often what is past its retention is removed from the disk.
  absl::Duration trim_interval = absl::Hours(1);
  const Clock* clock = Clock::Real();
};

// Thread-safe.
class ServedLog {
 public:
  // Errors as Store::Open has them.
  static absl::StatusOr<std::unique_ptr<ServedLog>> Open(const std::filesystem::path& data,
                                                         const ServedLogOptions& options);
  // Writes what is queued.
  ~ServedLog();
  ServedLog(const ServedLog&) = delete;

  // Never waits. False: dropped.
  bool Append(Scope scope, storage::ServeRecord record);
  // Since the start: records that were not kept.
  int64_t dropped() const;
  // Returns when all that was appended before is written (or dropped): what is in the process's memory
  // alone is lost by a kill.
  absl::Status Flush();

  // NOT_FOUND: not written (yet), or past its retention.
  absl::StatusOr<storage::ServeRecord> Find(Scope scope, std::string_view request_id) const;
  // Records of this time or later (all when empty), oldest first, until `visit` answers false.
  absl::Status ForEach(Scope scope, std::optional<absl::Time> not_before,
                       const std::function<bool(const storage::ServeRecord&)>& visit) const;

  // Reads every file. DATA_LOSS names the damaged one.
  absl::Status VerifyChecksums() const;
  // Removes what is past its retention now; the writing thread does so by itself every trim_interval.
  absl::Status Trim();
  // Erasure: removes what was served to these users. Reads the whole collection's records.
  absl::Status RemoveUsers(Scope scope, absl::Span<const UserNumber> users);

 private:
  class Impl;
  explicit ServedLog(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace waymark
