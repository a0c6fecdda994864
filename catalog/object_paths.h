// The paths of an item at which fields are found: its own names, and what lies inside its objects.
//
//   ForEachPath(fields, [](const std::string& path, const Value& value) { return true; });
//   {"size": {"width": 30}, "variants": [{"color": "red"}, {"color": "blue"}]}:
//   "size", "variants", "size.width" = 30, "variants.color" = ["red", "blue"]
#pragma once
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "google/protobuf/struct.pb.h"

namespace waymark {

// Objects are looked into so deep when fields are found.
inline constexpr int kDeepestFoundPath = 8;

// Visits each path once: the names of an object, in no order, before what lies inside their values. Where an
// array of objects is on the way, the value is a list of what they have there. `visit` answers whether to
// look inside the value's objects.
void ForEachPath(
    const google::protobuf::Struct& fields,
    absl::FunctionRef<bool(const std::string& path, const google::protobuf::Value& value)> visit);

// Whether items may hold something at `path` all the same, although it is new among the fields that
// `is_known` knows: an object around it was kept when no path of it was found. What lies in objects that were
// looked into was found with the first item that has it.
bool MayBeHeldAlready(std::string_view path, absl::FunctionRef<bool(std::string_view name)> is_known,
                      absl::FunctionRef<bool(std::string_view object)> is_looked_into);

// "variants.color" -> "color": what the value is called where it stands.
std::string_view LastName(std::string_view path);

}  // namespace waymark
