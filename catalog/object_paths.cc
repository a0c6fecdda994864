#include "catalog/object_paths.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace waymark {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

// Objects that stand at one path of an item.
struct Place {
  std::string prefix;  // with its dot; empty: the item itself
  std::vector<const Struct*> objects;
  bool in_array = false;
  int depth = 0;
};

// The same objects as ForEachAt() (catalog/field_path.h) goes into.
void AddObjects(const Value& value, Place* place) {
  if (value.kind_case() == Value::kStructValue) {
    place->objects.push_back(&value.struct_value());
  } else if (value.kind_case() == Value::kListValue) {
    place->in_array = true;
    for (const Value& element : value.list_value().values()) {
      if (element.kind_case() == Value::kStructValue) place->objects.push_back(&element.struct_value());
    }
  }
}

// The elements of all values, as one list.
Value Joined(absl::Span<const Value* const> values) {
  Value joined;
  auto* elements = joined.mutable_list_value();
  for (const Value* value : values) {
    if (value->kind_case() == Value::kListValue) {
      for (const Value& element : value->list_value().values()) *elements->add_values() = element;
    } else {
      *elements->add_values() = *value;
    }
  }
  return joined;
}

}  // namespace

void ForEachPath(const Struct& fields,
                 absl::FunctionRef<bool(const std::string& path, const Value& value)> visit) {
  absl::flat_hash_set<std::string> visited;  // those with dots: a name may have dots itself
  std::deque<Place> places;
  places.push_back({"", {&fields}});
  while (!places.empty()) {
    const Place place = std::move(places.front());
    places.pop_front();
    std::vector<Place> inside;
    const auto at = [&](const std::string& name, absl::Span<const Value* const> values) {
      const std::string path = absl::StrCat(place.prefix, name);
      if (absl::StrContains(path, '.') && !visited.insert(path).second) return;
      const bool look = place.in_array ? visit(path, Joined(values)) : visit(path, *values[0]);
      if (!look || place.depth == kDeepestFoundPath) return;
      Place next{absl::StrCat(path, "."), {}, place.in_array, place.depth + 1};
      for (const Value* value : values) AddObjects(*value, &next);
      if (!next.objects.empty()) inside.push_back(std::move(next));
    };
    if (place.objects.size() == 1) {
      for (const auto& [name, value] : place.objects[0]->fields()) at(name, {&value});
    } else {
      absl::flat_hash_map<std::string, std::vector<const Value*>> by_name;
      for (const Struct* object : place.objects) {
        for (const auto& [name, value] : object->fields()) by_name[name].push_back(&value);
      }
      for (const auto& [name, values] : by_name) at(name, values);
    }
    // Of two ways to one path the longer name leads on, as for readers.
    std::sort(inside.begin(), inside.end(),
              [](const Place& a, const Place& b) { return a.prefix.size() > b.prefix.size(); });
    std::move(inside.begin(), inside.end(), std::back_inserter(places));
  }
}

bool MayBeHeldAlready(std::string_view path, absl::FunctionRef<bool(std::string_view name)> is_known,
                      absl::FunctionRef<bool(std::string_view object)> is_looked_into) {
  for (size_t dot = path.rfind('.'); dot != path.npos && dot > 0; dot = path.rfind('.', dot - 1)) {
    const std::string_view object = path.substr(0, dot);
    if (is_known(object)) return !is_looked_into(object);
  }
  return false;
}

std::string_view LastName(std::string_view path) { return path.substr(path.rfind('.') + 1); }

}  // namespace waymark
