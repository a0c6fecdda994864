// How changes come into a Catalog: items from the log, and new schemas.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "catalog/catalog_impl.h"

namespace waymark {
namespace {

// Changes taken in under one exclusive lock: readers wait for no more than these (well under a millisecond).
constexpr size_t kBatch = 32;

}  // namespace

void Catalog::Impl::Apply(absl::Span<const Change> changes) {
  if (changes.empty()) return;
  std::lock_guard applying(apply_mutex_);
  const LogOffset known = position();
  size_t at = 0;
  while (at < changes.size()) {
    const size_t end = std::min(at + kBatch, changes.size());
    BatchLock::Writing writing(columns_lock_);
    for (; at < end; ++at) {
      const Change& change = changes[at];
      if (change.offset <= known || !change.entry.has_item()) continue;
      columns_.Apply(change.entry.item());
      if (changed_meanwhile_) {
        (*changed_meanwhile_)[change.entry.item().ordinal()] = change.entry.item().record();
      }
    }
  }
  if (changes.back().offset > known) SetPosition(changes.back().offset);
}

void Catalog::Impl::SetPosition(LogOffset offset) {
  {
    std::lock_guard lock(position_mutex_);
    position_.store(offset, std::memory_order_release);
  }
  position_moved_.notify_all();
}

bool Catalog::Impl::WaitFor(LogOffset offset, absl::Time until) const {
  if (position() >= offset) return true;
  std::unique_lock lock(position_mutex_);
  const auto reached = [&] { return position() >= offset; };
  // The condition variable's clock cannot hold absl's infinite future; a year is long enough to look again.
  while (!reached()) {
    const absl::Time now = absl::Now();
    if (now >= until) return false;
    const absl::Duration left = std::min(until - now, absl::Hours(24 * 365));
    position_moved_.wait_for(lock, absl::ToChronoNanoseconds(left), reached);
  }
  return true;
}

absl::Status Catalog::Impl::Adopt(std::shared_ptr<const Schema> schema, bool all) {
  std::lock_guard changing(schema_mutex_);
  std::optional<ItemColumns> next;
  {
    std::lock_guard applying(apply_mutex_);
    next = ItemColumns::Adopting(columns_, std::move(schema), all);
    if (next->needs_filling()) changed_meanwhile_.emplace();
  }
  absl::Status status;
  if (next->needs_filling()) {
    status = store_->ForEachItem(scope_, 0, [&](ItemOrdinal item, const storage::ItemRecord& record) {
      next->Fill(item, record);
      return true;
    });
  }
  std::lock_guard applying(apply_mutex_);
  const auto meanwhile = std::exchange(changed_meanwhile_, std::nullopt);
  if (!status.ok()) return status;
  if (meanwhile) {
    for (const auto& [item, record] : *meanwhile) next->Fill(item, record);
  }
  {
    BatchLock::Writing writing(columns_lock_);
    std::swap(columns_, *next);
  }
  return absl::OkStatus();
}

absl::Status Catalog::Impl::Declare(const storage::SchemaRecord& record) {
  storage::SchemaRecord declared = record;
  declared.set_declared(true);
  declared.set_revision(Reader(*this)->schema()->record().revision() + 1);
  absl::StatusOr<Schema> checked = Schema::FromRecord(std::move(declared));
  if (!checked.ok()) return checked.status();
  const auto schema = std::make_shared<const Schema>(*std::move(checked));

  absl::Status misfit;
  absl::Status read = store_->ForEachItem(scope_, 0, [&](ItemOrdinal, const storage::ItemRecord& item) {
    const absl::Status status = schema->Check(item.fields());
    if (status.ok()) return true;
    misfit = absl::FailedPreconditionError(
        absl::StrCat("item '", item.id(), "' does not fit the schema: ", std::string(status.message()),
                     "; change the item or the schema, then declare it again"));
    return false;
  });
  if (!read.ok()) return read;
  if (!misfit.ok()) return misfit;

  absl::StatusOr<storage::CollectionRecord> collection = store_->GetCollection(scope_);
  if (!collection.ok()) return collection.status();
  *collection->mutable_item_schema() = schema->record();
  if (absl::Status status = store_->PutCollection(scope_, *collection); !status.ok()) return status;
  return Adopt(schema, /*all=*/true);
}

}  // namespace waymark
