// Items, users and schemas between the API and the store.
#pragma once
#include "absl/status/statusor.h"
#include "store/mutation.h"
#include "store/store.h"
#include "waymark/v1/catalog.pb.h"
#include "waymark/v1/resource.pb.h"
#include "waymark/v1/user.pb.h"

namespace waymark {

void ToMessage(const CollectionName& collection, const storage::ItemRecord& record, v1::Item* item);
void ToMessage(const CollectionName& collection, const storage::UserRecord& record, v1::User* user);
void ToMessage(const storage::SchemaRecord& record, v1::Schema* schema);

absl::StatusOr<Mutation> PutOf(const v1::Item& item);
absl::StatusOr<Mutation> PutOf(const v1::User& user);
absl::StatusOr<Mutation> UpdateOf(const v1::ItemUpdate& update);
absl::StatusOr<Mutation> UpdateOf(const v1::UserUpdate& update);
// A declared schema. INVALID_ARGUMENT: a type that this version does not know.
absl::StatusOr<storage::SchemaRecord> SchemaOf(const v1::Schema& schema);

}  // namespace waymark
