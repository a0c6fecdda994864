#include "serving/resource_name.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

constexpr size_t kMaxSegmentBytes = 64;

bool IsSegment(std::string_view text) {
  return !text.empty() && text.size() <= kMaxSegmentBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

// Takes "{key}/{value}" from the front of `rest`, with the slash after it. False: something else is there.
bool TakeSegment(std::string_view key, std::string_view* rest, std::string* value) {
  std::string_view text = *rest;
  if (!text.starts_with(key) || text.size() <= key.size() || text[key.size()] != '/') return false;
  text.remove_prefix(key.size() + 1);
  const size_t end = std::min(text.find('/'), text.size());
  if (!IsSegment(text.substr(0, end))) return false;
  *value = std::string(text.substr(0, end));
  text.remove_prefix(end);
  if (!text.empty()) text.remove_prefix(1);
  *rest = text;
  return true;
}

absl::Status WrongName(std::string_view text, std::string_view field, std::string_view form) {
  return InvalidField(
      field, absl::StrCat("is '", std::string(text.substr(0, 200)), "'; it takes ", std::string(form),
                          ", where tenant and collection are 1 to 64 of [a-z0-9_-] and may be "
                          "left out"));
}

}  // namespace

absl::StatusOr<CollectionName> ParseCollection(std::string_view text, std::string_view field) {
  CollectionName name;
  std::string_view rest = text;
  TakeSegment("tenants", &rest, &name.tenant);
  TakeSegment("collections", &rest, &name.collection);
  if (!rest.empty() || (!text.empty() && text.back() == '/')) {
    return WrongName(text, field, "tenants/{tenant}/collections/{collection}");
  }
  return name;
}

absl::StatusOr<std::string> ParseTenant(std::string_view text, std::string_view field) {
  std::string tenant = CollectionName().tenant;
  std::string_view rest = text;
  TakeSegment("tenants", &rest, &tenant);
  if (!rest.empty() || (!text.empty() && text.back() == '/')) {
    return WrongName(text, field, "tenants/{tenant}");
  }
  return tenant;
}

absl::StatusOr<ResourceName> ParseResource(std::string_view text, std::string_view kind,
                                           std::string_view field) {
  ResourceName name;
  std::string_view rest = text;
  TakeSegment("tenants", &rest, &name.collection.tenant);
  TakeSegment("collections", &rest, &name.collection.collection);
  const std::string form = "tenants/{tenant}/collections/{collection}/" + std::string(kind) + "/{id}";
  if (rest.size() <= kind.size() || rest.substr(0, kind.size()) != kind || rest[kind.size()] != '/') {
    return WrongName(text, field, form);
  }
  rest.remove_prefix(kind.size() + 1);
  if (rest.empty() || rest.size() > kMaxIdBytes) {
    return InvalidField(field,
                        absl::StrCat("has an id of ", rest.size(), " bytes; ids have 1 to ", kMaxIdBytes));
  }
  name.id = std::string(rest);
  return name;
}

std::string FormatCollection(const CollectionName& name) {
  return absl::StrCat("tenants/", name.tenant, "/collections/", name.collection);
}

std::string FormatResource(const CollectionName& collection, std::string_view kind, std::string_view id) {
  return absl::StrCat(FormatCollection(collection), "/", std::string(kind), "/", std::string(id));
}

}  // namespace waymark
