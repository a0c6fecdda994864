#include "catalog/catalog_check.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "catalog/catalog_impl.h"
#include "catalog/columns_file.h"

namespace waymark {
namespace {

constexpr size_t kItemsPerRead = 512;
// A write is in the store a moment before it is in the columns: what differs is looked at again.
constexpr int kLooks = 6;
constexpr std::chrono::milliseconds kBetweenLooks(20);

std::vector<std::string> Differing(const ItemColumns& columns, ItemOrdinal item,
                                   const storage::ItemRecord* record) {
  if (columns.rows().live.contains(item) != (record != nullptr)) {
    return {record != nullptr ? "is in the store and not here" : "is here and not in the store"};
  }
  if (record == nullptr) return {};
  std::vector<std::string> fields = columns.DifferingFields(item, *record);
  if (fields.empty()) return {};
  return {absl::StrCat("has other values here than in the store: ", absl::StrJoin(fields, ", "))};
}

}  // namespace

std::filesystem::path CatalogFile(const std::filesystem::path& data, Scope scope) {
  return data / "catalog" / absl::StrCat(scope.tenant, "-", scope.collection) / "columns";
}

void CheckCatalogFile(const std::filesystem::path& data, Scope scope, PartCheck* check) {
  const std::filesystem::path file = CatalogFile(data, scope);
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(file, error);
  if (error) return;
  ++check->files;
  check->bytes += static_cast<int64_t>(size);
  const absl::Status status = ReadColumnsFile(
      file, [](const ColumnsHeader&, size_t) { return absl::OkStatus(); },
      [](size_t, std::string_view) { return absl::OkStatus(); });
  if (status.ok() || absl::IsNotFound(status)) return;
  check->Find(file.lexically_relative(data).string(), std::string(status.message()), kMadeAnew);
}

absl::Status Catalog::Check(PartCheck* check) const { return impl_->Check(check); }
absl::Status Catalog::Rebuild() {
  if (absl::Status status = impl_->Adopt(schema(), /*all=*/true); !status.ok()) return status;
  return impl_->Checkpoint();
}
std::string Catalog::rebuild_reason() const { return impl_->rebuild_reason(); }

absl::Status Catalog::Impl::Check(PartCheck* check) const {
  std::vector<ItemOrdinal> suspects;
  std::vector<std::pair<ItemOrdinal, storage::ItemRecord>> batch;
  Bitmap seen;
  const auto compare = [&] {
    const Reader columns(*this);
    for (const auto& [item, record] : batch) {
      if (!Differing(*columns, item, &record).empty()) suspects.push_back(item);
    }
    batch.clear();
  };
  absl::Status walked =
      store_->ForEachItem(scope_, 0, [&](ItemOrdinal item, const storage::ItemRecord& record) {
        seen.add(item);
        batch.emplace_back(item, record);
        if (batch.size() == kItemsPerRead) compare();
        return true;
      });
  if (!walked.ok()) return walked;
  compare();
  check->items += static_cast<int64_t>(seen.cardinality());
  check->position = position();
  std::vector<std::string> broken;
  {
    const Reader columns(*this);
    for (const uint32_t item : columns->rows().live - seen) suspects.push_back(item);
    broken = columns->BrokenIndexes();
  }
  for (const std::string& what : broken) check->Find("catalog", what, kMadeAnew);
  for (int look = 0; look < kLooks && !suspects.empty(); ++look) {
    if (look > 0) std::this_thread::sleep_for(kBetweenLooks);
    const bool last = look + 1 == kLooks;
    std::vector<ItemOrdinal> still;
    for (const ItemOrdinal item : suspects) {
      const auto record = store_->GetItem(scope_, item);
      if (!record.ok() && !absl::IsNotFound(record.status())) return record.status();
      const Reader columns(*this);
      const std::vector<std::string> different = Differing(*columns, item, record.ok() ? &*record : nullptr);
      if (different.empty()) continue;
      still.push_back(item);
      if (!last) continue;
      const std::string id = record.ok() ? record->id() : store_->ItemId(scope_, item);
      for (const std::string& what : different) check->Find(absl::StrCat("item '", id, "'"), what, kMadeAnew);
    }
    suspects = std::move(still);
  }
  return absl::OkStatus();
}

}  // namespace waymark
