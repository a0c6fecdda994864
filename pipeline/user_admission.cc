#include "pipeline/user_admission.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "pipeline/schema_growth.h"
#include "store/mutation_check.h"

namespace waymark {

using google::protobuf::Struct;

UserAdmission::UserAdmission(Store* store, Scope scope, const Clock* clock, std::mutex* growing)
    : store_(store), scope_(scope), clock_(clock), growing_(growing) {
  auto collection = store->GetCollection(scope);
  schema_ =
      std::make_shared<const Schema>(collection.ok() ? collection->user_schema() : storage::SchemaRecord());
}

std::shared_ptr<const Schema> UserAdmission::schema() const {
  std::lock_guard<std::mutex> lock(schema_mutex_);
  return schema_;
}

bool UserAdmission::StoreTakes(const Mutation& mutation, const EventTypes& types) const {
  if (!CheckMutation(mutation, types, clock_->Now()).ok()) return false;
  const auto* update = std::get_if<UpdateUser>(&mutation);
  if (update == nullptr) return true;
  const auto user = store_->FindUser(scope_, update->id);
  if (!user) return false;
  const auto record = store_->GetUser(scope_, *user);
  if (!record.ok() || record->deleted()) return false;
  return update->expected_version == 0 || record->version() == update->expected_version;
}

absl::Status UserAdmission::Adopt(storage::SchemaRecord record) {
  auto collection = store_->GetCollection(scope_);
  if (!collection.ok()) return collection.status();
  record.set_revision(collection->user_schema().revision() + 1);
  auto schema = Schema::FromRecord(record);
  if (!schema.ok()) return schema.status();
  *collection->mutable_user_schema() = std::move(record);
  if (auto status = store_->PutCollection(scope_, *collection); !status.ok()) return status;
  std::lock_guard<std::mutex> lock(schema_mutex_);
  schema_ = std::make_shared<const Schema>(*std::move(schema));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<absl::Status>> UserAdmission::Admit(const std::vector<Mutation>& mutations) {
  std::vector<Struct> masked(mutations.size());
  std::vector<const Struct*> rows(mutations.size(), nullptr);
  bool any = false;
  for (size_t i = 0; i < mutations.size(); ++i) {
    if (const auto* put = std::get_if<PutUser>(&mutations[i])) rows[i] = &put->fields;
    if (const auto* update = std::get_if<UpdateUser>(&mutations[i])) {
      masked[i] = WrittenFields(update->fields, update->paths);
      rows[i] = &masked[i];
    }
    any = any || rows[i] != nullptr;
  }
  if (!any) return std::vector<absl::Status>(mutations.size());
  const EventTypes types = store_->GetEventTypes(scope_);
  const auto takes = [&](size_t i) { return StoreTakes(mutations[i], types); };
  SchemaGrowth growth = GrowSchema(*schema(), rows, takes);
  if (!growth.grown) return std::move(growth.results);
  std::lock_guard<std::mutex> lock(*growing_);
  growth = GrowSchema(*schema(), rows, takes);  // another writer may have let it grow meanwhile
  if (growth.grown) {
    if (auto status = Adopt(growth.schema.record()); !status.ok()) return status;
  }
  return std::move(growth.results);
}

absl::Status UserAdmission::Declare(storage::SchemaRecord record) {
  record.set_declared(true);
  auto schema = Schema::FromRecord(record);
  if (!schema.ok()) return schema.status();
  std::lock_guard<std::mutex> lock(*growing_);
  absl::Status misfit;
  auto status = store_->ForEachUser(scope_, 0, [&](UserNumber, const storage::UserRecord& user) {
    if (user.deleted()) return true;
    const absl::Status fits = schema->Check(user.fields());
    if (fits.ok()) return true;
    misfit = absl::FailedPreconditionError(
        absl::StrCat("the user '", user.id(), "' does not fit this schema: ", std::string(fits.message())));
    return false;
  });
  if (!status.ok()) return status;
  if (!misfit.ok()) return misfit;
  return Adopt(std::move(record));
}

}  // namespace waymark
