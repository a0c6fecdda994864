#include "store/store_check.h"

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr char kFromBackup[] =
    "nothing else holds it: bring the data folder back from a backup, or import the items again";

}  // namespace

void CheckStoreFiles(const Store& store, PartCheck* check) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(store.data_folder() / "store", error), end;
       !error && entry != end; entry.increment(error)) {
    ++check->files;
  }
  check->bytes += store.DiskBytes();
  check->position = store.End();
  if (absl::Status status = store.VerifyChecksums(); !status.ok()) {
    check->Find("store", std::string(status.message()), kFromBackup);
  }
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
