// What writes of items pass through on the way to the store: the schema's check, and its growth with new
// fields.
#pragma once
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "store/store.h"

namespace waymark {

// Thread-safe. A schema must not be declared between Admit and the write that it lets through: the caller
// holds that off (LiveCollection::Write).
class ItemAdmission {
 public:
  // `growing`: of all that changes the collection's record.
  ItemAdmission(Store* store, Scope scope, Catalog* catalog, const Clock* clock, std::mutex* growing)
      : store_(store), scope_(scope), catalog_(catalog), clock_(clock), growing_(growing) {}

  // One status per mutation: OK, or why the item does not fit the schema. Unless the schema is declared, it
  // first grows, durably, by the fields of those that are taken; what is refused leaves no trace in it.
  absl::StatusOr<std::vector<absl::Status>> Admit(const std::vector<Mutation>& mutations);

 private:
  // Whether the store will take the mutation, as far as can be told before the write.
  bool StoreTakes(const Mutation& mutation, const EventTypes& types) const;
  absl::Status Adopt(const Schema& grown);
  Store* store_;
  Scope scope_;
  Catalog* catalog_;
  const Clock* clock_;
  std::mutex* growing_;
};

}  // namespace waymark
