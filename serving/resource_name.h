// Names of resources as the API writes them: tenants/{t}/collections/{c}/items/{id}. Tenant and collection
// are `default` when left out; an id is the rest of the string and may hold slashes.
//
//   auto name = ParseResource("items/a/b", "items", "name");  // {default, default}, id "a/b"
#pragma once
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "store/ids.h"

namespace waymark {

struct ResourceName {
  CollectionName collection;
  std::string id;
  bool operator==(const ResourceName&) const = default;
};

// "" | tenants/{t} | collections/{c} | tenants/{t}/collections/{c}. INVALID_ARGUMENT names `field`.
absl::StatusOr<CollectionName> ParseCollection(std::string_view text, std::string_view field);
// "" | tenants/{t}.
absl::StatusOr<std::string> ParseTenant(std::string_view text, std::string_view field);
// A collection as above (or nothing), then `kind`/{id}; `kind` is "items" or "users".
absl::StatusOr<ResourceName> ParseResource(std::string_view text, std::string_view kind,
                                           std::string_view field);

std::string FormatCollection(const CollectionName& name);
std::string FormatResource(const CollectionName& collection, std::string_view kind, std::string_view id);

}  // namespace waymark
