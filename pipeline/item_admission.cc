#include "pipeline/item_admission.h"

#include <variant>

namespace waymark {
namespace {

const google::protobuf::Struct* ItemFields(const Mutation& mutation) {
  if (const auto* put = std::get_if<PutItem>(&mutation)) return &put->fields;
  if (const auto* update = std::get_if<UpdateItem>(&mutation)) return &update->fields;
  return nullptr;
}

}  // namespace

absl::Status ItemAdmission::Grow(const std::vector<const google::protobuf::Struct*>& items) {
  const auto extended = [&items](const Schema& from, bool* any) {
    Schema schema = from;
    for (const auto* fields : items) {
      bool changed = false;
      Schema next = schema.ExtendedBy(*fields, &changed);
      if (changed) schema = std::move(next), *any = true;
    }
    return schema;
  };
  bool any = false;
  extended(*catalog_->schema(), &any);
  if (!any) return absl::OkStatus();

  std::lock_guard<std::mutex> lock(growing_);
  any = false;
  Schema schema =
      extended(*catalog_->schema(), &any);  // another writer may have added the same fields meanwhile
  if (!any) return absl::OkStatus();
  auto record = store_->GetCollection(scope_);
  if (!record.ok()) return record.status();
  storage::SchemaRecord grown = schema.record();
  grown.set_revision(record->item_schema().revision() + 1);
  *record->mutable_item_schema() = grown;
  if (auto status = store_->PutCollection(scope_, *record); !status.ok()) return status;
  auto checked = Schema::FromRecord(grown);
  if (!checked.ok()) return checked.status();
  return catalog_->AdoptSchema(std::make_shared<const Schema>(*std::move(checked)));
}

absl::StatusOr<std::vector<absl::Status>> ItemAdmission::Admit(const std::vector<Mutation>& mutations) {
  std::vector<absl::Status> results(mutations.size());
  std::vector<const google::protobuf::Struct*> items;
  std::vector<size_t> places;
  for (size_t i = 0; i < mutations.size(); ++i) {
    if (const auto* fields = ItemFields(mutations[i])) items.push_back(fields), places.push_back(i);
  }
  if (items.empty()) return results;
  if (!catalog_->schema()->record().declared()) {
    if (auto status = Grow(items); !status.ok()) return status;
  }
  const auto schema = catalog_->schema();
  for (size_t k = 0; k < items.size(); ++k) results[places[k]] = schema->Check(*items[k]);
  return results;
}

}  // namespace waymark
