#include "serving/services/item_messages.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catalog/schema_merge.h"
#include "serving/resource_name.h"
#include "serving/services/time_messages.h"
#include "serving/status_details.h"
#include "store/text_check.h"

namespace waymark {
namespace {

// Items and users have the same shape.
template <class Record, class Resource>
void Fill(const CollectionName& collection, std::string_view kind, const Record& record, Resource* resource) {
  resource->set_name(FormatResource(collection, kind, record.id()));
  resource->set_id(record.id());
  *resource->mutable_fields() = record.fields();
  resource->set_version(record.version());
  SetTimestamp(record.create_time_us(), resource->mutable_create_time());
  SetTimestamp(record.update_time_us(), resource->mutable_update_time());
}

// The collection of a name may be another one: what was exported there is imported here.
template <class Resource>
absl::Status CheckName(const Resource& resource, const std::string& kind) {
  const std::string& name = resource.name();
  const std::string wanted = absl::StrCat(kind, "/", resource.id());
  if (name.empty() || name == wanted || absl::EndsWith(name, "/" + wanted)) return absl::OkStatus();
  return InvalidField("name",
                      absl::StrCat("is '", Shortened(name), "', and the id is '", Shortened(resource.id()),
                                   "'; leave the name out, or name the same"));
}

template <class Put, class Resource>
absl::StatusOr<Mutation> Written(const Resource& resource, const std::string& kind) {
  if (auto status = CheckName(resource, kind); !status.ok()) return status;
  return Mutation(Put{resource.id(), resource.fields()});
}

template <class Change, class Resource, class Update>
absl::StatusOr<Mutation> Updated(const Resource& resource, const Update& update, const std::string& kind) {
  if (auto status = CheckName(resource, kind); !status.ok()) return status;
  Change mutation;
  mutation.id = resource.id();
  mutation.fields = resource.fields();
  mutation.paths.assign(update.update_mask().paths().begin(), update.update_mask().paths().end());
  mutation.expected_version = update.expected_version();
  return Mutation(std::move(mutation));
}

// Either way between messages and records.
template <class From, class To>
void SetAnalysis(const From& from, To* to) {
  to->set_analyzer(from.analyzer());
  to->set_language(from.language());
  to->set_stemmer(from.stemmer());
  if (from.has_remove_stop_words()) to->set_remove_stop_words(from.remove_stop_words());
}

}  // namespace

void ToMessage(const CollectionName& collection, const storage::ItemRecord& record, v1::Item* item) {
  Fill(collection, "items", record, item);
}

void ToMessage(const CollectionName& collection, const storage::UserRecord& record, v1::User* user) {
  Fill(collection, "users", record, user);
}

void ToMessage(const storage::SchemaRecord& record, v1::Schema* schema) {
  for (const storage::FieldRecord& from : record.fields()) {
    v1::Schema::Field* field = schema->add_fields();
    field->set_name(from.name());
    // The numbers of the two enumerations are the same.
    field->set_type(static_cast<v1::Schema::Type>(from.type()));
    field->set_array(from.array());
    field->set_searchable(from.searchable());
    field->set_search_weight(from.search_weight());
    field->set_filterable(from.filterable());
    field->set_title(from.title());
    field->set_category(from.category());
    SetAnalysis(from, field);
    field->set_dimension(from.dimension());
    field->set_metric(static_cast<v1::Schema::Field::Metric>(from.metric()));
  }
  schema->set_analyzer(record.analyzer());
  schema->set_language(record.language());
  schema->set_stemmer(record.stemmer());
  schema->set_remove_stop_words(record.remove_stop_words());
  schema->set_declared(record.declared());
  schema->set_revision(static_cast<int64_t>(record.revision()));
}

absl::StatusOr<Mutation> PutOf(const v1::Item& item) { return Written<PutItem>(item, "items"); }
absl::StatusOr<Mutation> PutOf(const v1::User& user) { return Written<PutUser>(user, "users"); }
absl::StatusOr<Mutation> UpdateOf(const v1::ItemUpdate& update) {
  return Updated<UpdateItem>(update.item(), update, "items");
}
absl::StatusOr<Mutation> UpdateOf(const v1::UserUpdate& update) {
  return Updated<UpdateUser>(update.user(), update, "users");
}

absl::StatusOr<storage::SchemaRecord> SchemaOf(const v1::Schema& schema) {
  storage::SchemaRecord record;
  for (int i = 0; i < schema.fields_size(); ++i) {
    const v1::Schema::Field& from = schema.fields(i);
    storage::FieldRecord* field = record.add_fields();
    field->set_name(from.name());
    field->set_type(static_cast<storage::FieldRecord::Type>(from.type()));
    field->set_array(from.array());
    field->set_searchable(from.searchable());
    field->set_search_weight(from.search_weight());
    field->set_filterable(from.filterable());
    field->set_title(from.title());
    field->set_category(from.category());
    SetAnalysis(from, field);
    field->set_dimension(from.dimension());
    field->set_metric(static_cast<storage::FieldRecord::Metric>(from.metric()));
    const bool typed = v1::Schema::Type_IsValid(from.type()) && from.type() != v1::Schema::TYPE_UNSPECIFIED;
    if (typed || SaysNothing(*field)) continue;
    return InvalidField(
        absl::StrCat("schema.fields[", i, "].type"),
        absl::StrCat("of '", from.name(), "' is ", static_cast<int>(from.type()),
                     "; it takes TEXT, KEYWORD, INTEGER, FLOATING, BOOLEAN, TIME, OBJECT, GEO or VECTOR"));
  }
  record.set_analyzer(schema.analyzer());
  record.set_language(schema.language());
  record.set_stemmer(schema.stemmer());
  record.set_remove_stop_words(schema.remove_stop_words());
  record.set_declared(true);
  return record;
}

}  // namespace waymark
