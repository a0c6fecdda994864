// Whether the store holds together: every block of its files, and its id map beside its items.
#pragma once
#include "store/part_check.h"
#include "store/store.h"

namespace waymark {

// Of the files of the whole store; for one collection after the other, once is enough. Reads everything.
void CheckStoreFiles(const Store& store, PartCheck* check);
// Each live item of a collection: that its id leads to it, and how many there are. Thread-safe beside writes.
void CheckStoreItems(const Store& store, Scope scope, PartCheck* check);

}  // namespace waymark
