// A write's way: checked and prepared on the writer's thread, committed by the leader of its group.
#include <xxhash.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "store/erasure_impl.h"
#include "store/mutation_check.h"
#include "store/store_impl.h"

namespace waymark {
namespace {

// More is refused: it would not fit a group, and hold everybody else up.
constexpr size_t kMaxWriteBytes = 256 << 20;

// By the tag that a record of the log begins with, which says what it is.
bool Wanted(std::string_view record, const ChangeKinds& kinds) {
  if (record.empty()) return true;
  switch (static_cast<uint8_t>(record[0]) >> 3) {
    case storage::LogEntry::kItemFieldNumber:
      return kinds.items;
    case storage::LogEntry::kUserFieldNumber:
      return kinds.users;
    case storage::LogEntry::kEventFieldNumber:
      return kinds.events;
    case storage::LogEntry::kErasureFieldNumber:
      return kinds.erasures;
    default:
      return true;
  }
}

}  // namespace

struct Store::Impl::PendingWrite : CommitQueue::Entry {
  Scope scope;
  std::vector<PreparedMutation> mutations;
  std::vector<size_t> places;  // of each in the receipt
  WriteReceipt receipt;
  absl::Status status;
  bool erases = false;
};

absl::Status Store::Impl::CheckWritable() const {
  if (!options.read_only) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(data.string(), " is open for reading only"));
}

std::string Store::Impl::MakeEventId() {
  std::string bytes = event_id_seed;
  AppendBigEndian64(bytes, made_event_ids++);
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return absl::StrFormat("%016x%016x", hash.high64, hash.low64);
}

absl::StatusOr<WriteReceipt> Store::Write(Scope scope, std::vector<Mutation> mutations) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  auto types = impl_->Types(scope);
  if (!types.ok()) return types.status();
  Impl::PendingWrite write;
  write.scope = scope;
  write.receipt.results.resize(mutations.size());
  const absl::Time now = impl_->options.clock->Now();
  for (size_t i = 0; i < mutations.size(); ++i) {
    absl::Status& status = write.receipt.results[i].status;
    status = CheckMutation(mutations[i], **types, now);
    if (!status.ok()) continue;
    write.places.push_back(i);
    write.mutations.push_back(std::visit(
        [&](auto&& mutation) -> PreparedMutation {
          using Kind = std::decay_t<decltype(mutation)>;
          if constexpr (std::is_same_v<Kind, WriteEvent>) {
            const EventType& type = *(*types)->Find(mutation.type);
            std::string id = mutation.event_id.empty() ? impl_->MakeEventId() : std::string();
            return PrepareEvent(std::move(mutation), type, now, std::move(id));
          } else {
            write.erases |= std::is_same_v<Kind, DeleteUser>;
            return std::move(mutation);
          }
        },
        std::move(mutations[i])));
    write.bytes += SizeOf(write.mutations.back());
  }
  if (write.bytes > kMaxWriteBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "one write holds ", write.bytes, " bytes; it takes at most ", kMaxWriteBytes, ": send it in parts"));
  }
  impl_->queue.Submit(write);
  if (!write.status.ok()) return write.status;
  if (write.erases) impl_->FinishErasuresOf(write);
  return std::move(write.receipt);
}

void Store::AddListener(ChangeListener listener) { impl_->listeners.push_back(std::move(listener)); }

absl::Status Store::Impl::BuildGroup(absl::Span<CommitQueue::Entry* const> group, WriteBuilder& builder) {
  for (CommitQueue::Entry* entry : group) {
    auto& write = static_cast<PendingWrite&>(*entry);
    if (!builder.Knows(write.scope)) {
      std::shared_lock<std::shared_mutex> lock(collections_mutex);
      builder.Begin(write.scope, Find(write.scope)->counters);
    }
    for (size_t i = 0; i < write.mutations.size(); ++i) {
      absl::Status status =
          builder.Apply(write.scope, write.mutations[i], write.receipt.results[write.places[i]]);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

void Store::Impl::CommitGroup(absl::Span<CommitQueue::Entry* const> group) {
  WriteBuilder builder(*database, end, options.clock->Now());
  absl::Status status = BuildGroup(group, builder);
  if (status.ok() && !builder.empty()) {
    status = database->Write(builder.Finish(), true);
    if (status.ok()) Publish(builder);
  }
  for (CommitQueue::Entry* entry : group) {
    auto& write = static_cast<PendingWrite&>(*entry);
    write.status = status;
    write.receipt.position = EmbeddedPosition(epoch, end);
  }
}

void Store::Impl::Publish(WriteBuilder& builder) {
  {
    std::unique_lock<std::shared_mutex> lock(collections_mutex);
    for (const auto& [scope, counters] : builder.counters()) collections[scope].counters = counters;
  }
  end = builder.end();
  for (const WriteBuilder::Run& run : builder.runs()) {
    for (const ChangeListener& listener : listeners) listener(run.scope, run.changes);
  }
}

// On the writer's own thread: what is left touches only entries of users that nobody can name any more.
void Store::Impl::FinishErasuresOf(PendingWrite& write) {
  std::lock_guard<std::mutex> lock(erasure_mutex);
  const absl::Status status = FinishErasures(*database);
  if (status.ok()) return;
  for (size_t i = 0; i < write.mutations.size(); ++i) {
    if (std::holds_alternative<DeleteUser>(write.mutations[i])) {
      write.receipt.results[write.places[i]].status = absl::Status(
          status.code(), absl::StrCat("the user's id and attributes are erased, the history not yet all: ",
                                      std::string(status.message())));
    }
  }
}

absl::StatusOr<LogOffset> Store::Read(Scope scope, LogOffset after, size_t limit,
                                      const std::function<absl::Status(const Change&)>& visit,
                                      const ChangeKinds& kinds) const {
  // Before the walk begins: everything up to here is seen by it.
  const LogOffset committed = impl_->end;
  const auto walk =
      impl_->database->Walk(Family::kLog, LogKey(scope, after + 1), PrefixEnd(ScopeKey(scope)), true);
  LogOffset seen = after;
  Change change;
  for (size_t count = 0; walk->Valid(); walk->Next(), ++count) {
    if (count == limit) return seen;
    change.offset = OffsetOfLogKey(walk->key());
    if (!Wanted(walk->value(), kinds)) {
      seen = change.offset;
      continue;
    }
    if (absl::Status status = ParseRecord(walk->value(), "log entry", change.entry); !status.ok())
      return status;
    if (absl::Status status = visit(change); !status.ok()) return status;
    seen = change.offset;
  }
  if (absl::Status status = impl_->database->Check(walk->status()); !status.ok()) return status;
  return std::max(seen, committed);
}

LogOffset Store::End() const { return impl_->end; }
LogPosition Store::EndPosition() const { return EmbeddedPosition(impl_->epoch, impl_->end); }

}  // namespace waymark
