#include "serving/services/catalog_service.h"

#include <utility>

#include "serving/services/collection_access.h"
#include "serving/services/item_listing.h"
#include "serving/services/item_messages.h"
#include "serving/services/write_batch.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

constexpr MethodOptions kItemBatch = {
    .max_request_bytes = size_t{16} << 20, .lane = Lane::kWrite, .default_deadline = kBatchDeadline};

absl::Status PutItems(Engine* engine, const v1::PutItemsRequest& request, v1::PutItemsResponse* response) {
  if (auto status = CheckBatchSize(request.items_size(), "items"); !status.ok()) return status;
  auto collection = OpenForWrite(engine, request.parent());
  if (!collection.ok()) return collection.status();
  WriteBatch batch;
  for (const v1::Item& item : request.items()) batch.Add(item.id(), PutOf(item));
  auto outcome = batch.Commit(*collection, engine->store().EndPosition());
  if (!outcome.ok()) return outcome.status();
  outcome->Fill(response->mutable_results());
  response->set_consistency_token(outcome->consistency_token);
  return absl::OkStatus();
}

absl::Status UpdateItems(Engine* engine, const v1::UpdateItemsRequest& request,
                         v1::UpdateItemsResponse* response) {
  if (auto status = CheckBatchSize(request.updates_size(), "updates"); !status.ok()) return status;
  auto collection = OpenForWrite(engine, request.parent());
  if (!collection.ok()) return collection.status();
  WriteBatch batch;
  for (const v1::ItemUpdate& update : request.updates()) batch.Add(update.item().id(), UpdateOf(update));
  auto outcome = batch.Commit(*collection, engine->store().EndPosition());
  if (!outcome.ok()) return outcome.status();
  outcome->Fill(response->mutable_results());
  response->set_consistency_token(outcome->consistency_token);
  return absl::OkStatus();
}

absl::Status DeleteByIds(Engine* engine, Collection* collection, const v1::DeleteItemsRequest& request,
                         v1::DeleteItemsResponse* response) {
  if (auto status = CheckBatchSize(request.ids_size(), "ids"); !status.ok()) return status;
  WriteBatch batch;
  for (const std::string& id : request.ids()) batch.Add(id, Mutation(DeleteItem{id}));
  auto outcome = batch.Commit(collection, engine->store().EndPosition());
  if (!outcome.ok()) return outcome.status();
  outcome->Fill(response->mutable_results());
  for (const WriteOutcome::Entry& entry : outcome->entries) {
    if (entry.status.ok()) response->set_deleted(response->deleted() + 1);
  }
  response->set_consistency_token(outcome->consistency_token);
  return absl::OkStatus();
}

// Batch by batch; what an item has become meanwhile decides whether it still goes.
absl::Status DeleteByFilter(Engine* engine, Collection* collection, const std::string& text,
                            v1::DeleteItemsResponse* response, const CallContext& context) {
  Catalog& catalog = collection->catalog();
  auto filter = catalog.CompileFilter(text);
  if (!filter.ok()) return filter.status();
  response->set_consistency_token(TokenOfNow(engine));
  const std::vector<ItemOrdinal> items = catalog.Evaluate(**filter)->ToVector();
  for (size_t start = 0; start < items.size(); start += kMaxBatch) {
    if (auto status = context.Check(); !status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(std::string(status.message()), "; ", response->deleted(), " of ",
                                       items.size(), " items are deleted. Call again to go on."));
    }
    WriteBatch batch;
    for (size_t i = start; i < std::min(items.size(), start + kMaxBatch); ++i) {
      if (!catalog.Passes(**filter, items[i])) continue;
      std::string id = engine->store().ItemId(collection->scope(), items[i]);
      batch.Add(id, Mutation(DeleteItem{id}));
    }
    auto outcome = batch.Commit(collection, engine->store().EndPosition());
    if (!outcome.ok()) return outcome.status();
    for (const WriteOutcome::Entry& entry : outcome->entries) {
      if (entry.status.ok()) response->set_deleted(response->deleted() + 1);
    }
    response->set_consistency_token(outcome->consistency_token);
  }
  return absl::OkStatus();
}

absl::Status DeleteItems(Engine* engine, const v1::DeleteItemsRequest& request,
                         v1::DeleteItemsResponse* response, const CallContext& context) {
  if (request.ids().empty() == request.filter().empty()) {
    return InvalidField("ids", "takes the ids to delete, or `filter` says which; exactly one of both");
  }
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  if (!request.ids().empty()) return DeleteByIds(engine, *collection, request, response);
  return DeleteByFilter(engine, *collection, request.filter(), response, context);
}

absl::Status GetItem(Engine* engine, const v1::GetItemRequest& request, v1::Item* item,
                     const CallContext& context) {
  auto name = ParseResource(request.name(), "items", "name");
  if (!name.ok()) return name.status();
  auto collection = OpenForRead(engine, name->collection, request.consistency_token(), context);
  if (!collection.ok()) return collection.status();
  const Scope scope = (*collection)->scope();
  const auto missing = [&] {
    return WithReason(absl::NotFoundError(absl::StrCat(
                          "there is no item ", FormatResource((*collection)->name(), "items", name->id))),
                      "ITEM_NOT_FOUND");
  };
  const auto ordinal = engine->store().FindItem(scope, name->id);
  if (!ordinal) return missing();
  auto record = engine->store().GetItem(scope, *ordinal);
  if (absl::IsNotFound(record.status())) return missing();
  if (!record.ok()) return record.status();
  ToMessage((*collection)->name(), *record, item);
  return absl::OkStatus();
}

absl::Status CheckKind(v1::SchemaKind kind) {
  if (v1::SchemaKind_IsValid(kind)) return absl::OkStatus();
  return InvalidField("kind", absl::StrCat("is ", static_cast<int>(kind), "; it takes ITEMS or USERS"));
}

void FillSchema(Collection& collection, v1::SchemaKind kind, v1::Schema* response) {
  const auto schema = kind == v1::USERS ? collection.user_schema() : collection.catalog().schema();
  ToMessage(schema->record(), response);
}

absl::Status GetSchema(Engine* engine, const v1::GetSchemaRequest& request, v1::Schema* response,
                       const CallContext& context) {
  if (auto status = CheckKind(request.kind()); !status.ok()) return status;
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  FillSchema(**collection, request.kind(), response);
  return absl::OkStatus();
}

absl::Status UpdateSchema(Engine* engine, const v1::UpdateSchemaRequest& request, v1::Schema* response) {
  if (auto status = CheckKind(request.kind()); !status.ok()) return status;
  if (!request.has_schema()) {
    return InvalidField("schema", "is missing; it takes the schema to declare, as GetSchema shows one");
  }
  if (request.schema().fields().empty()) {
    return InvalidField("schema.fields",
                        "is empty; it takes the fields to add, to change or, named without a type, to drop");
  }
  auto record = SchemaOf(request.schema());
  if (!record.ok()) return record.status();
  auto collection = OpenForWrite(engine, request.parent());
  if (!collection.ok()) return collection.status();
  absl::Status status = request.kind() == v1::USERS ? (*collection)->DeclareUserSchema(*record)
                                                    : (*collection)->DeclareSchema(*record);
  if (!status.ok()) return status;
  FillSchema(**collection, request.kind(), response);
  return absl::OkStatus();
}

absl::Status ListCollections(Engine* engine, const v1::ListCollectionsRequest& request,
                             v1::ListCollectionsResponse* response) {
  auto tenant = ParseTenant(request.parent(), "parent");
  if (!tenant.ok()) return tenant.status();
  Store& store = engine->store();
  for (const storage::CollectionRecord& record : store.Collections()) {
    if (record.tenant() != *tenant) continue;
    v1::CollectionInfo* info = response->add_collections();
    info->set_name(FormatCollection({record.tenant(), record.collection()}));
    info->set_items(store.Counts({record.tenant_number(), record.collection_number()}).items);
  }
  for (const storage::AliasRecord& record : store.Aliases()) {
    if (record.tenant() != *tenant) continue;
    v1::Alias* alias = response->add_aliases();
    alias->set_alias(record.alias());
    alias->set_collection(record.collection());
  }
  return absl::OkStatus();
}

absl::Status PutAlias(Engine* engine, const v1::PutAliasRequest& request, v1::Alias* response) {
  auto tenant = ParseTenant(request.parent(), "parent");
  if (!tenant.ok()) return tenant.status();
  const v1::Alias& alias = request.alias();
  if (alias.alias().empty()) return InvalidField("alias.alias", "is empty; it takes the alias's name");
  if (alias.collection().empty())
    return InvalidField("alias.collection", "is empty; it takes a collection's name");
  if (auto status = engine->store().PutAlias(*tenant, alias.alias(), alias.collection()); !status.ok())
    return status;
  *response = alias;
  return absl::OkStatus();
}

absl::Status DeleteAlias(Engine* engine, const v1::DeleteAliasRequest& request) {
  auto tenant = ParseTenant(request.parent(), "parent");
  if (!tenant.ok()) return tenant.status();
  if (request.alias().empty()) return InvalidField("alias", "is empty; it takes the alias's name");
  return engine->store().DeleteAlias(*tenant, request.alias());
}

}  // namespace

void RegisterCatalog(Engine* engine, MethodRegistry* registry) {
  const std::string service = "waymark.v1.CatalogService.";
  registry->Add<v1::PutItemsRequest, v1::PutItemsResponse>(
      service + "PutItems", kItemBatch,
      [engine](const auto& q, auto* r, const CallContext&) { return PutItems(engine, q, r); });
  registry->Add<v1::UpdateItemsRequest, v1::UpdateItemsResponse>(
      service + "UpdateItems", kItemBatch,
      [engine](const auto& q, auto* r, const CallContext&) { return UpdateItems(engine, q, r); });
  registry->Add<v1::DeleteItemsRequest, v1::DeleteItemsResponse>(
      service + "DeleteItems", {.lane = Lane::kBulk},
      [engine](const auto& q, auto* r, const CallContext& c) { return DeleteItems(engine, q, r, c); });
  registry->Add<v1::GetItemRequest, v1::Item>(
      service + "GetItem", {},
      [engine](const auto& q, auto* r, const CallContext& c) { return GetItem(engine, q, r, c); });
  registry->Add<v1::ListItemsRequest, v1::ListItemsResponse>(
      service + "ListItems", {},
      [engine](const auto& q, auto* r, const CallContext& c) { return ListItems(engine, q, r, c); });
  registry->Add<v1::GetSchemaRequest, v1::Schema>(
      service + "GetSchema", {},
      [engine](const auto& q, auto* r, const CallContext& c) { return GetSchema(engine, q, r, c); });
  registry->Add<v1::UpdateSchemaRequest, v1::Schema>(
      service + "UpdateSchema", {.lane = Lane::kBulk},
      [engine](const auto& q, auto* r, const CallContext&) { return UpdateSchema(engine, q, r); });
  registry->Add<v1::ListCollectionsRequest, v1::ListCollectionsResponse>(
      service + "ListCollections", {},
      [engine](const auto& q, auto* r, const CallContext&) { return ListCollections(engine, q, r); });
  registry->Add<v1::PutAliasRequest, v1::Alias>(
      service + "PutAlias", {},
      [engine](const auto& q, auto* r, const CallContext&) { return PutAlias(engine, q, r); });
  registry->Add<v1::DeleteAliasRequest, v1::DeleteAliasResponse>(
      service + "DeleteAlias", {},
      [engine](const auto& q, auto*, const CallContext&) { return DeleteAlias(engine, q); });
}

}  // namespace waymark
