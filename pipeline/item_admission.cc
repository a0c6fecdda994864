#include "pipeline/item_admission.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "pipeline/schema_growth.h"
#include "store/mutation_check.h"

namespace waymark {
namespace {

using google::protobuf::Struct;

bool WritesItem(const Mutation& mutation) {
  return std::holds_alternative<PutItem>(mutation) || std::holds_alternative<UpdateItem>(mutation);
}

}  // namespace

bool ItemAdmission::StoreTakes(const Mutation& mutation, const EventTypes& types) const {
  if (!CheckMutation(mutation, types, clock_->Now()).ok()) return false;
  const auto* update = std::get_if<UpdateItem>(&mutation);
  if (update == nullptr) return true;
  const auto item = store_->FindItem(scope_, update->id);
  if (!item || !catalog_->Live(*item)) return false;
  if (update->expected_version == 0) return true;
  const auto record = store_->GetItem(scope_, *item);
  return record.ok() && record->version() == update->expected_version;
}

absl::Status ItemAdmission::Adopt(const Schema& schema) {
  auto record = store_->GetCollection(scope_);
  if (!record.ok()) return record.status();
  storage::SchemaRecord grown = schema.record();
  grown.set_revision(record->item_schema().revision() + 1);
  *record->mutable_item_schema() = grown;
  if (auto status = store_->PutCollection(scope_, *record); !status.ok()) return status;
  auto checked = Schema::FromRecord(std::move(grown));
  if (!checked.ok()) return checked.status();
  return catalog_->AdoptSchema(std::make_shared<const Schema>(*std::move(checked)));
}

absl::StatusOr<std::vector<absl::Status>> ItemAdmission::Admit(const std::vector<Mutation>& mutations) {
  if (std::none_of(mutations.begin(), mutations.end(), WritesItem)) {
    return std::vector<absl::Status>(mutations.size());
  }
  std::vector<Struct> masked(mutations.size());
  std::vector<const Struct*> rows(mutations.size(), nullptr);
  for (size_t i = 0; i < mutations.size(); ++i) {
    if (const auto* put = std::get_if<PutItem>(&mutations[i])) rows[i] = &put->fields;
    if (const auto* update = std::get_if<UpdateItem>(&mutations[i])) {
      masked[i] = WrittenFields(update->fields, update->paths);
      rows[i] = &masked[i];
    }
  }
  const EventTypes types = store_->GetEventTypes(scope_);
  const auto takes = [&](size_t i) { return StoreTakes(mutations[i], types); };
  SchemaGrowth growth = GrowSchema(*catalog_->schema(), rows, takes);
  if (!growth.grown) return std::move(growth.results);
  std::lock_guard<std::mutex> lock(*growing_);
  // Another writer may have let it grow meanwhile.
  growth = GrowSchema(*catalog_->schema(), rows, takes);
  if (growth.grown) {
    if (auto status = Adopt(growth.schema); !status.ok()) return status;
  }
  return std::move(growth.results);
}

}  // namespace waymark
