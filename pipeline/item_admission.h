// What writes of items pass through on the way to the store: the schema's check, and its growth with new
// fields.
#pragma once
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "store/store.h"

namespace waymark {

// Thread-safe.
class ItemAdmission {
 public:
  ItemAdmission(Store* store, Scope scope, Catalog* catalog)
      : store_(store), scope_(scope), catalog_(catalog) {}

  // One status per mutation: OK, or why the item does not fit the schema. Unless the schema is declared, it
  // first grows by the fields of `mutations`, durably.
  absl::StatusOr<std::vector<absl::Status>> Admit(const std::vector<Mutation>& mutations);

 private:
  absl::Status Grow(const std::vector<const google::protobuf::Struct*>& items);
  Store* store_;
  Scope scope_;
  Catalog* catalog_;
  std::mutex growing_;
};

}  // namespace waymark
