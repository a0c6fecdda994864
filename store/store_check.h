// Whether the store holds together: every block of its files, and its id map beside its items.
#pragma once
#include <filesystem>

#include "store/part_check.h"
#include "store/served_log.h"
#include "store/store.h"

namespace waymark {

// Of the files of the whole store; for one collection after the other, once is enough. Reads everything.
void CheckStoreFiles(const Store& store, PartCheck* check);
// The same of what was served below the data folder `data`; `log`: where it is open, and NOT_FOUND where
// nothing was served yet. Nothing can make it anew.
void CheckServedFiles(const std::filesystem::path& data, const absl::StatusOr<const ServedLog*>& log,
                      PartCheck* check);
// Each live item of a collection: that its id leads to it, and how many there are. Thread-safe beside writes.
void CheckStoreItems(const Store& store, Scope scope, PartCheck* check);

}  // namespace waymark
