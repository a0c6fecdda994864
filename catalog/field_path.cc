#include "catalog/field_path.h"

#include <string>

namespace waymark {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr int kDeepestPath = 16;

void VisitAt(const Struct& fields, std::string_view path, int depth,
             absl::FunctionRef<void(const Value&)> visit);

void VisitIn(const Value& value, std::string_view path, int depth,
             absl::FunctionRef<void(const Value&)> visit) {
  if (value.kind_case() == Value::kStructValue) {
    VisitAt(value.struct_value(), path, depth + 1, visit);
  } else if (value.kind_case() == Value::kListValue) {
    for (const Value& element : value.list_value().values()) {
      if (element.kind_case() == Value::kStructValue) {
        VisitAt(element.struct_value(), path, depth + 1, visit);
      }
    }
  }
}

void VisitAt(const Struct& fields, std::string_view path, int depth,
             absl::FunctionRef<void(const Value&)> visit) {
  const auto own = fields.fields().find(std::string(path));
  if (own != fields.fields().end()) return visit(own->second);
  if (depth >= kDeepestPath) return;
  // A key may hold dots itself: the longest one that is there leads on.
  for (size_t dot = path.rfind('.'); dot != path.npos && dot > 0; dot = path.rfind('.', dot - 1)) {
    const auto found = fields.fields().find(std::string(path.substr(0, dot)));
    if (found == fields.fields().end()) continue;
    return VisitIn(found->second, path.substr(dot + 1), depth, visit);
  }
}

}  // namespace

void ForEachAt(const Struct& fields, std::string_view path, absl::FunctionRef<void(const Value&)> visit) {
  VisitAt(fields, path, 0, visit);
}

}  // namespace waymark
