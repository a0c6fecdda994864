// Collections and aliases: few, all held in memory.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "store/store_impl.h"
#include "store/text_check.h"

namespace waymark {
namespace {

constexpr size_t kMaxNameBytes = 64;

std::string CollectionKey(Scope scope) { return std::string("c").append(ScopeKey(scope)); }

std::string AliasKey(const std::string& tenant, const std::string& alias) {
  return absl::StrCat("a", tenant, "/", alias);
}

absl::Status CheckName(const std::string& field, const std::string& name) {
  const bool fits =
      !name.empty() && name.size() <= kMaxNameBytes && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
      });
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is '", Shortened(name), "'; it takes 1 to ", kMaxNameBytes, " of a-z 0-9 _ -"));
}

absl::Status CheckNames(const CollectionName& name) {
  absl::Status status = CheckName("tenant", name.tenant);
  status.Update(CheckName("collection", name.collection));
  return status;
}

Scope ScopeOf(const storage::CollectionRecord& record) {
  return {record.tenant_number(), record.collection_number()};
}

std::shared_ptr<const EventTypes> TypesOf(const storage::CollectionRecord& record) {
  std::vector<EventType> declared;
  for (const storage::EventTypeRecord& type : record.event_types()) {
    declared.push_back({type.code(), type.name(), type.weight(), static_cast<EventSign>(type.sign())});
  }
  return std::make_shared<const EventTypes>(declared);
}

absl::Status CheckEventTypes(const storage::CollectionRecord& record) {
  const EventTypes built_in;
  std::vector<uint32_t> codes;
  for (const storage::EventTypeRecord& type : record.event_types()) {
    if (absl::Status status = CheckName("event_types.name", type.name()); !status.ok()) return status;
    if (type.sign() < -1 || type.sign() > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("event_types.sign of '", type.name(), "' is ", type.sign(), "; it takes -1, 0 or 1"));
    }
    if (!(type.weight() >= 0 && type.weight() <= 1e6)) {
      return absl::InvalidArgumentError(absl::StrCat("event_types.weight of '", type.name(), "' is ",
                                                     type.weight(), "; it takes 0 to 1000000"));
    }
    if (built_in.Find(type.name()) != nullptr) continue;  // its weight and sign are set anew
    if (type.code() < event_code::kFirstDeclared) {
      return absl::InvalidArgumentError(absl::StrCat("event_types.code of '", type.name(), "' is ",
                                                     type.code(), "; it takes ", event_code::kFirstDeclared,
                                                     " or more"));
    }
    codes.push_back(type.code());
  }
  std::sort(codes.begin(), codes.end());
  if (std::adjacent_find(codes.begin(), codes.end()) != codes.end()) {
    return absl::InvalidArgumentError("event_types.code: two types have the same code");
  }
  return absl::OkStatus();
}

absl::Status NoCollection(const CollectionName& name) {
  return absl::NotFoundError(absl::StrCat("there is no collection '", Shortened(name.collection),
                                          "' of tenant '", Shortened(name.tenant), "'"));
}

absl::Status NoScope(Scope scope) {
  return absl::NotFoundError(
      absl::StrCat("there is no collection numbered ", scope.tenant, "/", scope.collection));
}

}  // namespace

absl::Status Store::Impl::ReadCollections() {
  auto walk = database->Walk(Family::kMeta, "c");
  for (; walk->Valid(); walk->Next()) {
    Collection collection;
    absl::Status status = ParseRecord(walk->value(), "collection", collection.record);
    if (!status.ok()) return status;
    const Scope scope = ScopeOf(collection.record);
    auto counters = database->Get(Family::kMeta, CountersKey(scope));
    if (!counters.ok()) return counters.status();
    if (counters->has_value()) {
      auto decoded = Counters::Decode(**counters);
      if (!decoded.ok()) return decoded.status();
      collection.counters = *decoded;
    }
    collection.types = TypesOf(collection.record);
    names[{collection.record.tenant(), collection.record.collection()}] = scope;
    collections[scope] = std::move(collection);
  }
  if (absl::Status status = database->Check(walk->status()); !status.ok()) return status;
  walk = database->Walk(Family::kMeta, "a");
  for (; walk->Valid(); walk->Next()) {
    storage::AliasRecord alias;
    if (absl::Status status = ParseRecord(walk->value(), "alias", alias); !status.ok()) return status;
    aliases[{alias.tenant(), alias.alias()}] = alias.collection();
  }
  return database->Check(walk->status());
}

const Store::Impl::Collection* Store::Impl::Find(Scope scope) const {
  auto found = collections.find(scope);
  return found == collections.end() ? nullptr : &found->second;
}

absl::StatusOr<std::shared_ptr<const EventTypes>> Store::Impl::Types(Scope scope) const {
  std::shared_lock<std::shared_mutex> lock(collections_mutex);
  const Collection* collection = Find(scope);
  if (collection == nullptr) return NoScope(scope);
  return collection->types;
}

absl::Status Store::Impl::PutMeta(std::string_view key, const google::protobuf::MessageLite& record) {
  Batch batch;
  database->Put(batch, Family::kMeta, key, record);
  return database->Write(batch, true);
}

absl::StatusOr<Scope> Store::FindCollection(const CollectionName& name) const {
  std::shared_lock<std::shared_mutex> lock(impl_->collections_mutex);
  auto found = impl_->names.find({name.tenant, name.collection});
  if (found != impl_->names.end()) return found->second;
  auto alias = impl_->aliases.find({name.tenant, name.collection});
  if (alias == impl_->aliases.end()) return NoCollection(name);
  found = impl_->names.find({name.tenant, alias->second});
  if (found == impl_->names.end()) return NoCollection({name.tenant, alias->second});
  return found->second;
}

absl::StatusOr<Scope> Store::CreateCollection(const CollectionName& name) {
  if (absl::Status status = CheckNames(name); !status.ok()) return status;
  std::lock_guard<std::mutex> registry(impl_->registry_mutex);
  if (auto found = FindCollection(name); found.ok()) return found;
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;

  Impl::Collection made;
  made.record.set_tenant(name.tenant);
  made.record.set_collection(name.collection);
  made.record.set_create_time_us(absl::ToUnixMicros(impl_->options.clock->Now()));
  uint32_t last_tenant = 0, tenant = 0, last_collection = 0;
  for (const storage::CollectionRecord& record : Collections()) {
    last_tenant = std::max(last_tenant, record.tenant_number());
    if (record.tenant() != name.tenant) continue;
    tenant = record.tenant_number();
    last_collection = std::max(last_collection, record.collection_number());
  }
  made.record.set_tenant_number(tenant != 0 ? tenant : last_tenant + 1);
  made.record.set_collection_number(last_collection + 1);
  const Scope scope = ScopeOf(made.record);
  if (absl::Status status = impl_->PutMeta(CollectionKey(scope), made.record); !status.ok()) return status;
  made.types = TypesOf(made.record);
  std::unique_lock<std::shared_mutex> lock(impl_->collections_mutex);
  impl_->names[{name.tenant, name.collection}] = scope;
  impl_->collections[scope] = std::move(made);
  return scope;
}

std::vector<storage::CollectionRecord> Store::Collections() const {
  std::shared_lock<std::shared_mutex> lock(impl_->collections_mutex);
  std::vector<storage::CollectionRecord> records;
  for (const auto& [scope, collection] : impl_->collections) records.push_back(collection.record);
  return records;
}

absl::StatusOr<storage::CollectionRecord> Store::GetCollection(Scope scope) const {
  std::shared_lock<std::shared_mutex> lock(impl_->collections_mutex);
  const Impl::Collection* collection = impl_->Find(scope);
  if (collection == nullptr) return NoScope(scope);
  return collection->record;
}

absl::Status Store::PutCollection(Scope scope, const storage::CollectionRecord& record) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  if (absl::Status status = CheckEventTypes(record); !status.ok()) return status;
  std::lock_guard<std::mutex> registry(impl_->registry_mutex);
  auto before = GetCollection(scope);
  if (!before.ok()) return before.status();
  storage::CollectionRecord stored = record;
  stored.set_tenant(before->tenant());
  stored.set_collection(before->collection());
  stored.set_tenant_number(before->tenant_number());
  stored.set_collection_number(before->collection_number());
  stored.set_create_time_us(before->create_time_us());
  if (absl::Status status = impl_->PutMeta(CollectionKey(scope), stored); !status.ok()) return status;
  std::unique_lock<std::shared_mutex> lock(impl_->collections_mutex);
  Impl::Collection& collection = impl_->collections[scope];
  collection.types = TypesOf(stored);
  collection.record = std::move(stored);
  return absl::OkStatus();
}

EventTypes Store::GetEventTypes(Scope scope) const {
  auto types = impl_->Types(scope);
  return types.ok() ? **types : EventTypes();
}

absl::Status Store::PutAlias(const std::string& tenant, const std::string& alias,
                             const std::string& collection) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  if (absl::Status status = CheckNames({tenant, collection}); !status.ok()) return status;
  if (absl::Status status = CheckName("alias", alias); !status.ok()) return status;
  std::lock_guard<std::mutex> registry(impl_->registry_mutex);
  {
    std::shared_lock<std::shared_mutex> lock(impl_->collections_mutex);
    if (!impl_->names.contains({tenant, collection})) return NoCollection({tenant, collection});
    if (impl_->names.contains({tenant, alias})) {
      return absl::AlreadyExistsError(absl::StrCat("'", alias, "' is a collection of tenant '", tenant,
                                                   "'; an alias takes a name of its own"));
    }
  }
  storage::AliasRecord record;
  record.set_tenant(tenant);
  record.set_alias(alias);
  record.set_collection(collection);
  if (absl::Status status = impl_->PutMeta(AliasKey(tenant, alias), record); !status.ok()) return status;
  std::unique_lock<std::shared_mutex> lock(impl_->collections_mutex);
  impl_->aliases[{tenant, alias}] = collection;
  return absl::OkStatus();
}

absl::Status Store::DeleteAlias(const std::string& tenant, const std::string& alias) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  std::lock_guard<std::mutex> registry(impl_->registry_mutex);
  {
    std::shared_lock<std::shared_mutex> lock(impl_->collections_mutex);
    if (!impl_->aliases.contains({tenant, alias})) {
      return absl::NotFoundError(
          absl::StrCat("tenant '", Shortened(tenant), "' has no alias '", Shortened(alias), "'"));
    }
  }
  Batch batch;
  impl_->database->Delete(batch, Family::kMeta, AliasKey(tenant, alias));
  if (absl::Status status = impl_->database->Write(batch, true); !status.ok()) return status;
  std::unique_lock<std::shared_mutex> lock(impl_->collections_mutex);
  impl_->aliases.erase({tenant, alias});
  return absl::OkStatus();
}

std::vector<storage::AliasRecord> Store::Aliases() const {
  std::shared_lock<std::shared_mutex> lock(impl_->collections_mutex);
  std::vector<storage::AliasRecord> records;
  for (const auto& [name, collection] : impl_->aliases) {
    storage::AliasRecord& record = records.emplace_back();
    record.set_tenant(name.first);
    record.set_alias(name.second);
    record.set_collection(collection);
  }
  return records;
}

StoreCounts Store::Counts(Scope scope) const {
  std::shared_lock<std::shared_mutex> lock(impl_->collections_mutex);
  const Impl::Collection* collection = impl_->Find(scope);
  if (collection == nullptr) return {};
  return {collection->counters.items, collection->counters.users, collection->counters.events};
}

ItemOrdinal Store::ItemEnd(Scope scope) const {
  std::shared_lock<std::shared_mutex> lock(impl_->collections_mutex);
  const Impl::Collection* collection = impl_->Find(scope);
  return collection == nullptr ? 0 : collection->counters.next_item;
}

}  // namespace waymark
