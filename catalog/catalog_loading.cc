// Where a Catalog's columns come from at a start, and how they are kept for the next one.
#include <spdlog/spdlog.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "catalog/catalog_check.h"
#include "catalog/catalog_impl.h"
#include "catalog/columns_file.h"

namespace waymark {
namespace {

constexpr size_t kReadBatch = 4096;
constexpr int kCheckpointTries = 5;

bool SameSchema(const storage::SchemaRecord& a, const storage::SchemaRecord& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

// Keeps what is damaged for whoever wants to see it, out of the way of the next checkpoint.
void SetAside(const std::filesystem::path& file) {
  std::filesystem::path aside = file;
  aside += ".damaged";
  std::error_code error;
  std::filesystem::rename(file, aside, error);
  if (error) spdlog::warn("catalog: cannot rename {}: {}", file.string(), error.message());
}

}  // namespace

Catalog::Impl::Impl(Store* store, Scope scope, std::shared_ptr<const Schema> schema)
    : store_(store),
      scope_(scope),
      file_(CatalogFile(store->data_folder(), scope)),
      columns_(std::move(schema)) {}

absl::Status Catalog::Impl::Load() {
  const std::shared_ptr<const Schema> stored = columns_.schema();
  absl::Status status = LoadCheckpoint(stored);
  if (!status.ok()) {
    if (!absl::IsNotFound(status)) rebuild_reason_ = std::string(status.message());
    if (absl::IsDataLoss(status)) {
      spdlog::warn("catalog: checkpoint is damaged ({}); rebuilding from the store",
                   std::string(status.message()));
      SetAside(file_);
    } else if (!absl::IsNotFound(status)) {
      spdlog::info("catalog: rebuilding from the store: {}", std::string(status.message()));
    }
    if (status = Rebuild(stored); !status.ok()) return status;
  }
  return ReplayTail();
}

absl::Status Catalog::Impl::LoadCheckpoint(std::shared_ptr<const Schema> stored) {
  std::optional<ItemColumns> columns;
  LogOffset position = 0;
  const size_t item_end = store_->ItemEnd(scope_);
  absl::Status status = ReadColumnsFile(
      file_,
      [&](const ColumnsHeader& header, size_t parts) {
        if (header.epoch != store_->epoch() || header.position > store_->End()) {
          return absl::FailedPreconditionError("the column checkpoint belongs to another data folder");
        }
        // An inferred schema only grows by items that come later in the log; a declared one says anything.
        const bool same = SameSchema(header.schema, stored->record());
        if (!same && (stored->record().declared() || header.schema.declared())) {
          return absl::FailedPreconditionError("the schema was declared after the column checkpoint");
        }
        position = header.position;
        columns.emplace(same ? stored : std::make_shared<const Schema>(header.schema));
        if (columns->part_count() == parts) return absl::OkStatus();
        return absl::DataLossError(absl::StrCat(file_.string(), ": columns and schema do not go together"));
      },
      [&](size_t part, std::string_view bytes) {
        if (columns->ReadPart(part, bytes, item_end)) return absl::OkStatus();
        return absl::DataLossError(absl::StrCat(file_.string(), ": part ", part, " does not hold together"));
      });
  if (!status.ok()) return status;
  columns_ = *std::move(columns);
  SetPosition(position);
  return columns_.schema() == stored ? absl::OkStatus() : Adopt(std::move(stored), /*all=*/false);
}

absl::Status Catalog::Impl::Rebuild(std::shared_ptr<const Schema> schema) {
  // What is written from here on is replayed after the scan; items that the scan already saw newer come to
  // the same values again.
  const LogOffset position = store_->End();
  columns_ = ItemColumns(std::move(schema));
  absl::Status status =
      store_->ForEachItem(scope_, 0, [&](ItemOrdinal item, const storage::ItemRecord& record) {
        columns_.Put(item, record, nullptr);
        return true;
      });
  if (status.ok()) SetPosition(position);
  return status;
}

absl::Status Catalog::Impl::ReplayTail() {
  const LogOffset end = store_->End();
  while (position() < end) {
    const LogOffset before = position();  // Apply() moves it
    const absl::StatusOr<LogOffset> reached =
        store_->Read(scope_, before, kReadBatch, [&](const Change& change) {
          Apply(absl::MakeConstSpan(&change, 1));
          ++replayed_changes_;
          return absl::OkStatus();
        });
    if (!reached.ok()) return reached.status();
    if (*reached <= before) break;
    SetPosition(*reached);
  }
  return absl::OkStatus();
}

absl::Status Catalog::Impl::Checkpoint() {
  std::lock_guard one(checkpoint_mutex_);
  for (int attempt = 0; attempt < kCheckpointTries; ++attempt) {
    ColumnsHeader header{.epoch = store_->epoch()};
    std::shared_ptr<const Schema> schema;
    size_t parts = 0;
    {
      std::lock_guard applying(apply_mutex_);
      header.position = position();
      schema = columns_.schema();
      parts = columns_.part_count();
    }
    header.schema = schema->record();
    // Writers wait for one column's bytes at a time, readers not at all.
    bool changed = false;
    absl::Status status = WriteColumnsFile(file_, header, parts, [&](size_t part, std::string* out) {
      std::lock_guard applying(apply_mutex_);
      changed = columns_.schema() != schema;
      if (changed) return absl::AbortedError("the schema changed during the checkpoint");
      columns_.WritePart(part, out);
      return absl::OkStatus();
    });
    if (!changed) return status;
  }
  return absl::AbortedError("the schema kept changing during the column checkpoint; the next one will do");
}

}  // namespace waymark
