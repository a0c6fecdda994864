// Where a field's value lies in an item: under its own name, or, for a name with dots that is not there
// itself, inside objects: "size.width" of {"size": {"width": 30}}.
//
//   ForEachAt(fields, "variants.color", visit);   // of {"variants": [{"color": "red"}, {"color": "blue"}]}:
//   both
#pragma once
#include <string_view>

#include "absl/functional/function_ref.h"
#include "google/protobuf/struct.pb.h"

namespace waymark {

// Visits what is there: no call, one, or one for each object of the arrays on the way. Objects are looked
// into 16 deep.
void ForEachAt(const google::protobuf::Struct& fields, std::string_view path,
               absl::FunctionRef<void(const google::protobuf::Value&)> visit);

// Whether a change of the (top-level) field `changed` may change what lies at `path`.
inline bool Touches(std::string_view changed, std::string_view path) {
  return path.substr(0, changed.size()) == changed &&
         (path.size() == changed.size() || path[changed.size()] == '.');
}

}  // namespace waymark
