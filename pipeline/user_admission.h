// What writes of users pass through on the way to the store: their schema's check, and its growth with new
// attributes. The same rules as for items; users have no columns, so the schema is all there is.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/schema.h"
#include "store/store.h"

namespace waymark {

// Thread-safe. As with ItemAdmission, the caller holds declarations off between Admit and the write.
class UserAdmission {
 public:
  // `growing`: of all that changes the collection's record.
  UserAdmission(Store* store, Scope scope, const Clock* clock, std::mutex* growing);

  std::shared_ptr<const Schema> schema() const;
  // One status per mutation: OK, or why the user does not fit the schema.
  absl::StatusOr<std::vector<absl::Status>> Admit(const std::vector<Mutation>& mutations);
  // INVALID_ARGUMENT: no schema; FAILED_PRECONDITION names a user that does not fit, and nothing changes.
  absl::Status Declare(storage::SchemaRecord record);

 private:
  bool StoreTakes(const Mutation& mutation, const EventTypes& types) const;
  absl::Status Adopt(storage::SchemaRecord record);  // under *growing_

  Store* store_;
  Scope scope_;
  const Clock* clock_;
  std::mutex* growing_;
  mutable std::mutex schema_mutex_;
  std::shared_ptr<const Schema> schema_;  // under schema_mutex_
};

}  // namespace waymark
