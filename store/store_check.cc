#include "store/store_check.h"

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr char kFromBackup[] =
    "nothing else holds it: bring the data folder back from a backup, or import the items again";

constexpr char kServedIsLost[] =
    "nothing else holds the lists that were served: restore a snapshot, or stop the server and move the "
    "folder away to go on without "
    "them";

void CountFiles(const std::filesystem::path& folder, PartCheck* check) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    ++check->files;
    std::error_code gone;  // RocksDB deletes files while we look
    const auto size = entry->file_size(gone);
    if (!gone) check->bytes += static_cast<int64_t>(size);
  }
}

}  // namespace

void CheckStoreFiles(const Store& store, PartCheck* check) {
  CountFiles(store.data_folder() / "store", check);
  check->position = store.End();
  if (absl::Status status = store.VerifyChecksums(); !status.ok()) {
    check->Find("store", std::string(status.message()), kFromBackup);
  }
}

void CheckServedFiles(const std::filesystem::path& data, const absl::StatusOr<const ServedLog*>& log,
                      PartCheck* check) {
  if (absl::IsNotFound(log.status())) return;
  CountFiles(data / "served", check);
  absl::Status status = log.status();
  if (status.ok()) status = (*log)->VerifyChecksums();
  if (!status.ok()) check->Find("served", std::string(status.message()), kServedIsLost);
}

void CheckStoreItems(const Store& store, Scope scope, PartCheck* check) {
  const LogOffset before = store.End();
  int64_t walked = 0;
  absl::Status status = store.ForEachItem(scope, 0, [&](ItemOrdinal item, const storage::ItemRecord& record) {
    ++walked;
    const auto found = store.FindItem(scope, record.id());
    if (found != item) {
      check->Find(absl::StrCat("item '", record.id(), "'"),
                  absl::StrCat("is kept as number ", item, ", and its id leads to ",
                               found ? absl::StrCat(*found) : std::string("nothing")),
                  kFromBackup);
    }
    return true;
  });
  if (!status.ok()) check->Find("store", std::string(status.message()), kFromBackup);
  const int64_t counted = store.Counts(scope).items;
  if (store.End() == before && counted != walked) {
    check->Find("store", absl::StrCat("counts ", counted, " items, and holds ", walked), kFromBackup);
  }
  check->items += walked;
}

}  // namespace waymark
