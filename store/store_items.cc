// Reading items.
#include <google/protobuf/io/coded_stream.h>
#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"
#include "store/store_impl.h"

namespace waymark {
namespace {

// For reads whose answer has no place for an error: a damaged disk must not look like an absent record.
void Report(const absl::Status& status) { spdlog::error("the store cannot be read: {}", status.ToString()); }

// ItemRecord.id without parsing the rest: it is the first field of the serialized record.
std::string IdOfRecord(std::string_view bytes) {
  constexpr uint32_t kIdTag = (storage::ItemRecord::kIdFieldNumber << 3) | 2;
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  uint32_t length = 0;
  std::string id;
  if (input.ReadTag() == kIdTag && input.ReadVarint32(&length) && length <= bytes.size() &&
      input.ReadString(&id, static_cast<int>(length))) {
    return id;
  }
  return {};
}

struct KeyBatch {
  std::vector<std::string> keys;
  std::vector<rocksdb::PinnableSlice> values;
  std::vector<rocksdb::Status> statuses;
};

// One read of the store for all.
KeyBatch ReadMany(const Database& database, Family family, Scope scope, absl::Span<const ItemOrdinal> items) {
  KeyBatch batch;
  batch.values.resize(items.size());
  batch.statuses.resize(items.size());
  std::vector<rocksdb::Slice> slices;
  for (ItemOrdinal item : items) batch.keys.push_back(ItemKey(scope, item));
  for (const std::string& key : batch.keys) slices.push_back(ToSlice(key));
  database.MultiGet(family, slices, batch.values.data(), batch.statuses.data());
  for (const rocksdb::Status& status : batch.statuses) {
    if (!status.ok() && !status.IsNotFound()) Report(database.Check(status));
  }
  return batch;
}

absl::Status NoSuchItem(ItemOrdinal item) {
  return absl::NotFoundError(absl::StrCat("there is no item with ordinal ", item));
}

}  // namespace

std::optional<ItemOrdinal> Store::FindItem(Scope scope, std::string_view id) const {
  auto value = impl_->database->Get(Family::kItemIds, ItemIdKey(scope, id));
  if (!value.ok()) Report(value.status());
  if (!value.ok() || !value->has_value() || (*value)->size() != 4) return std::nullopt;
  return ReadBigEndian32(**value);
}

std::string Store::ItemId(Scope scope, ItemOrdinal item) const { return ItemIds(scope, {&item, 1})[0]; }

std::vector<std::string> Store::ItemIds(Scope scope, absl::Span<const ItemOrdinal> items) const {
  std::vector<std::string> ids(items.size());
  std::vector<size_t> named;  // places that have no record
  const KeyBatch records = ReadMany(*impl_->database, Family::kItems, scope, items);
  for (size_t i = 0; i < items.size(); ++i) {
    if (records.statuses[i].ok()) {
      ids[i] = IdOfRecord(ToView(records.values[i]));
    } else {
      named.push_back(i);
    }
  }
  if (named.empty()) return ids;
  std::vector<ItemOrdinal> rest;
  for (size_t place : named) rest.push_back(items[place]);
  const KeyBatch names = ReadMany(*impl_->database, Family::kItemNames, scope, rest);
  for (size_t i = 0; i < named.size(); ++i) {
    if (names.statuses[i].ok()) ids[named[i]] = names.values[i].ToString();
  }
  return ids;
}

absl::StatusOr<storage::ItemRecord> Store::GetItem(Scope scope, ItemOrdinal item) const {
  storage::ItemRecord record;
  absl::Status status =
      impl_->database->GetRecord(Family::kItems, ItemKey(scope, item), "item record", record);
  if (absl::IsNotFound(status) || (status.ok() && record.deleted())) return NoSuchItem(item);
  if (!status.ok()) return status;
  return record;
}

std::vector<std::optional<storage::ItemRecord>> Store::GetItems(Scope scope,
                                                                absl::Span<const ItemOrdinal> items) const {
  std::vector<std::optional<storage::ItemRecord>> records(items.size());
  const KeyBatch batch = ReadMany(*impl_->database, Family::kItems, scope, items);
  for (size_t i = 0; i < items.size(); ++i) {
    if (!batch.statuses[i].ok()) continue;
    storage::ItemRecord record;
    absl::Status status = ParseRecord(ToView(batch.values[i]), "item record", record);
    if (!status.ok()) Report(status);
    if (status.ok() && !record.deleted()) records[i] = std::move(record);
  }
  return records;
}

absl::Status Store::ForEachItem(
    Scope scope, ItemOrdinal first,
    const std::function<bool(ItemOrdinal, const storage::ItemRecord&)>& visit) const {
  const auto walk =
      impl_->database->Walk(Family::kItems, ItemKey(scope, first), PrefixEnd(ScopeKey(scope)), true);
  storage::ItemRecord record;
  for (; walk->Valid(); walk->Next()) {
    if (absl::Status status = ParseRecord(walk->value(), "item record", record); !status.ok()) return status;
    if (!record.deleted() && !visit(ItemOfKey(walk->key()), record)) return absl::OkStatus();
  }
  return impl_->database->Check(walk->status());
}

}  // namespace waymark
