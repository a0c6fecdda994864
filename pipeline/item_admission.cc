#include "pipeline/item_admission.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "store/mutation_check.h"

namespace waymark {
namespace {

using google::protobuf::Struct;

// The fields that a mutation writes into an item; null: it writes no item. `masked` keeps those that an
// update picks out of more.
const Struct* ItemFields(const Mutation& mutation, Struct* masked) {
  if (const auto* put = std::get_if<PutItem>(&mutation)) return &put->fields;
  const auto* update = std::get_if<UpdateItem>(&mutation);
  if (update == nullptr) return nullptr;
  if (update->paths.empty()) return &update->fields;
  masked->Clear();
  for (const std::string& path : update->paths) {
    const auto found = update->fields.fields().find(path);
    if (found != update->fields.fields().end()) (*masked->mutable_fields())[path] = found->second;
  }
  return masked;
}

bool WritesItem(const Mutation& mutation) {
  return std::holds_alternative<PutItem>(mutation) || std::holds_alternative<UpdateItem>(mutation);
}

struct Examined {
  Schema schema;
  bool grown = false;
  std::vector<absl::Status> results;
};

// Checks the items one after the other, each against the schema as those before it left it.
// `takes`: whether the store will take a mutation; asked only of those that would let the schema grow.
template <class Takes>
Examined Examine(const Schema& schema, const std::vector<Mutation>& mutations, const Takes& takes) {
  Examined examined{.schema = schema, .results = std::vector<absl::Status>(mutations.size())};
  const bool declared = schema.record().declared();
  Struct masked;
  for (size_t i = 0; i < mutations.size(); ++i) {
    const Struct* fields = ItemFields(mutations[i], &masked);
    if (fields == nullptr) continue;
    bool changed = false;
    std::optional<Schema> next;
    if (!declared) next = examined.schema.ExtendedBy(*fields, &changed);
    examined.results[i] = (changed ? *next : examined.schema).Check(*fields);
    if (!changed || !examined.results[i].ok() || !takes(mutations[i])) continue;
    examined.schema = *std::move(next);
    examined.grown = true;
  }
  return examined;
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
  const EventTypes types = store_->GetEventTypes(scope_);
  const auto takes = [&](const Mutation& mutation) { return StoreTakes(mutation, types); };
  Examined examined = Examine(*catalog_->schema(), mutations, takes);
  if (!examined.grown) return std::move(examined.results);
  std::lock_guard<std::mutex> lock(growing_);
  // Another writer may have let it grow meanwhile.
  examined = Examine(*catalog_->schema(), mutations, takes);
  if (examined.grown) {
    if (auto status = Adopt(examined.schema); !status.ok()) return status;
  }
  return std::move(examined.results);
}

}  // namespace waymark
