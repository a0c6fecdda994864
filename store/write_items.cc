// Items in a batch: ordinals, versions, tombstones.
#include "absl/strings/str_cat.h"
#include "store/keys.h"
#include "store/struct_fields.h"
#include "store/text_check.h"
#include "store/write_builder_impl.h"

namespace waymark {
namespace {

absl::Status AllGivenOut() {
  return absl::ResourceExhaustedError(
      "this collection has given out all item ordinals (2^32 - 1): make a new collection");
}

absl::Status NoSuchItem(const std::string& id) {
  return absl::NotFoundError(absl::StrCat("there is no item '", Shortened(id), "'"));
}

}  // namespace

absl::StatusOr<std::optional<ItemOrdinal>> WriteBuilder::FindItem(ScopeState& state, const std::string& id) {
  if (auto found = state.item_ids.find(id); found != state.item_ids.end()) return {found->second};
  auto value = database_.Get(Family::kItemIds, ItemIdKey(state.scope, id));
  if (!value.ok()) return value.status();
  if (!value->has_value()) return std::optional<ItemOrdinal>();
  if ((*value)->size() != 4) return absl::DataLossError("an entry of the item ids cannot be read");
  const ItemOrdinal item = ReadBigEndian32(**value);
  state.item_ids[id] = item;
  return {item};
}

std::optional<ItemOrdinal> WriteBuilder::AddItem(ScopeState& state, const std::string& id) {
  if (state.counters.next_item == kNoItem) return std::nullopt;
  const ItemOrdinal item = state.counters.next_item++;
  state.item_ids[id] = item;
  std::string value;
  AppendBigEndian32(value, item);
  database_.Put(batch_, Family::kItemIds, ItemIdKey(state.scope, id), value);
  return item;
}

absl::StatusOr<std::optional<ItemOrdinal>> WriteBuilder::FindOrNameItem(ScopeState& state,
                                                                        const std::string& id) {
  auto found = FindItem(state, id);
  if (!found.ok() || found->has_value()) return found;
  const std::optional<ItemOrdinal> added = AddItem(state, id);
  // It has no record that could tell its id.
  if (added.has_value()) database_.Put(batch_, Family::kItemNames, ItemKey(state.scope, *added), id);
  return added;
}

absl::StatusOr<std::optional<storage::ItemRecord>> WriteBuilder::LoadItem(ScopeState& state,
                                                                          ItemOrdinal item) {
  if (auto found = state.items.find(item); found != state.items.end()) return {found->second};
  storage::ItemRecord record;
  absl::Status status =
      database_.GetRecord(Family::kItems, ItemKey(state.scope, item), "item record", record);
  if (absl::IsNotFound(status)) return std::optional<storage::ItemRecord>();
  if (!status.ok()) return status;
  return {std::move(record)};
}

void WriteBuilder::StoreItem(ScopeState& state, ItemOrdinal item, storage::ItemRecord record,
                             const storage::ItemRecord* before) {
  const bool was_live = before != nullptr && !before->deleted();
  state.counters.items += (record.deleted() ? 0 : 1) - (was_live ? 1 : 0);
  record.set_version(before == nullptr ? 1 : before->version() + 1);
  record.set_create_time_us(before == nullptr ? now_us_ : before->create_time_us());
  record.set_update_time_us(now_us_);
  database_.Put(batch_, Family::kItems, ItemKey(state.scope, item), record);

  storage::ItemChange& change = *Append(state).mutable_item();
  change.set_ordinal(item);
  change.set_all(!was_live || record.deleted());
  if (!change.all()) {
    for (std::string& name : ChangedFields(before->fields(), record.fields())) {
      change.add_changed_fields(std::move(name));
    }
  }
  *change.mutable_record() = record;
  WriteLast(state);
  state.items[item] = std::move(record);
}

absl::Status WriteBuilder::PutItemFields(ScopeState& state, PutItem& put, MutationResult& result) {
  auto found = FindItem(state, put.id);
  if (!found.ok()) return found.status();
  std::optional<storage::ItemRecord> before;
  std::optional<ItemOrdinal> item = *found;
  if (item.has_value()) {
    auto loaded = LoadItem(state, *item);
    if (!loaded.ok()) return loaded.status();
    before = std::move(*loaded);
  } else {
    item = AddItem(state, put.id);
  }
  if (!item.has_value()) {
    result.status = AllGivenOut();
    return absl::OkStatus();
  }
  storage::ItemRecord record;
  record.set_id(put.id);
  *record.mutable_fields() = std::move(put.fields);
  StoreItem(state, *item, std::move(record), before.has_value() ? &*before : nullptr);
  result.version = state.items[*item].version();
  return absl::OkStatus();
}

absl::Status WriteBuilder::UpdateItemFields(ScopeState& state, const UpdateItem& update,
                                            MutationResult& result) {
  auto item = FindItem(state, update.id);
  if (!item.ok()) return item.status();
  std::optional<storage::ItemRecord> before;
  if (item->has_value()) {
    auto loaded = LoadItem(state, **item);
    if (!loaded.ok()) return loaded.status();
    before = std::move(*loaded);
  }
  if (!before.has_value() || before->deleted()) {
    result.status = NoSuchItem(update.id);
    return absl::OkStatus();
  }
  result.version = before->version();
  if (update.expected_version != 0 && update.expected_version != before->version()) {
    result.status = absl::AbortedError(absl::StrCat("item '", Shortened(update.id), "' is at version ",
                                                    before->version(), ", not at expected_version ",
                                                    update.expected_version, ": read it again"));
    return absl::OkStatus();
  }
  storage::ItemRecord record = *before;
  ApplyPaths(update.fields, update.paths, record.mutable_fields());
  result.status = CheckFields("item.fields with this update", record.fields());
  if (!result.status.ok()) return absl::OkStatus();
  StoreItem(state, **item, std::move(record), &*before);
  result.version = before->version() + 1;
  return absl::OkStatus();
}

absl::Status WriteBuilder::RemoveItem(ScopeState& state, const DeleteItem& remove, MutationResult& result) {
  auto item = FindItem(state, remove.id);
  if (!item.ok()) return item.status();
  std::optional<storage::ItemRecord> before;
  if (item->has_value()) {
    auto loaded = LoadItem(state, **item);
    if (!loaded.ok()) return loaded.status();
    before = std::move(*loaded);
  }
  if (!before.has_value() || before->deleted()) {
    result.status = NoSuchItem(remove.id);
    return absl::OkStatus();
  }
  storage::ItemRecord record;
  record.set_id(remove.id);
  record.set_deleted(true);
  StoreItem(state, **item, std::move(record), &*before);
  result.version = before->version() + 1;
  return absl::OkStatus();
}

}  // namespace waymark
