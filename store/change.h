// One change of the log, as readers see it.
#pragma once
#include <functional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "store/ids.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

struct Change {
  LogOffset offset = 0;
  storage::LogEntry entry;
};

// What readers of the log ask for; the others are passed over unread, which costs next to nothing.
struct ChangeKinds {
  bool items = true, users = true, events = true, erasures = true;
};

inline constexpr ChangeKinds kItemChanges = {.users = false, .events = false, .erasures = false};

// An ordered stream of one collection's changes after a position: the embedded log, a leader's log, or Kafka.
// Thread-safe.
class ChangeFeed {
 public:
  virtual ~ChangeFeed() = default;
  // Looks at no more than `limit` changes after `after`, in order, and calls `visit` for those of `kinds`;
  // stops at the first error, which it returns. Answers the offset up to which the collection has been read
  // completely (>= after, even when other collections' changes lie between).
  virtual absl::StatusOr<LogOffset> Read(Scope scope, LogOffset after, size_t limit,
                                         const std::function<absl::Status(const Change&)>& visit,
                                         const ChangeKinds& kinds = {}) const = 0;
  // The offset of the newest committed change of the folder.
  virtual LogOffset End() const = 0;
};

// Called on the committing thread, in log order, after the batch is durable and before its writers are
// answered. Must be quick and must not write to the store.
using ChangeListener = std::function<void(Scope scope, absl::Span<const Change> changes)>;

}  // namespace waymark
