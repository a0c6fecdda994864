#include "store/struct_fields.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "store/text_check.h"

namespace waymark {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

absl::Status CheckStruct(const std::string& path, const Struct& fields, int depth);

absl::Status CheckNumber(const std::string& path, double number) {
  if (!std::isfinite(number)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is ", number, "; it takes a finite number"));
  }
  if (std::abs(number) > kMaxWholeNumber) {  // all doubles there are whole
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s is %.17g, beyond 2^53, where numbers lose digits: write it as text", path, number));
  }
  return absl::OkStatus();
}

absl::Status CheckValue(const std::string& path, const Value& value, int depth) {
  if (depth > kMaxFieldDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat(Shortened(path), " is nested too deeply; fields take ", kMaxFieldDepth, " levels"));
  }
  switch (value.kind_case()) {
    case Value::kNumberValue:
      return CheckNumber(path, value.number_value());
    case Value::kStringValue:
      return CheckText(path, value.string_value(), kMaxRecordBytes);
    case Value::kStructValue:
      return CheckStruct(path, value.struct_value(), depth);
    case Value::kListValue: {
      int i = 0;
      for (const Value& entry : value.list_value().values()) {
        absl::Status status = CheckValue(absl::StrCat(path, "[", i++, "]"), entry, depth + 1);
        if (!status.ok()) return status;
      }
      return absl::OkStatus();
    }
    case Value::kNullValue:
    case Value::kBoolValue:
      return absl::OkStatus();
    case Value::KIND_NOT_SET:
      return absl::InvalidArgumentError(absl::StrCat(path, " has no value; write null, or leave it out"));
  }
  return absl::OkStatus();
}

absl::Status CheckStruct(const std::string& path, const Struct& fields, int depth) {
  for (const auto& [name, value] : fields.fields()) {
    if (absl::Status status = CheckId(absl::StrCat("a field's name in ", path), name); !status.ok()) {
      return status;
    }
    if (absl::Status status = CheckValue(absl::StrCat(path, ".", name), value, depth + 1); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

bool SameStruct(const Struct& a, const Struct& b) {
  if (a.fields_size() != b.fields_size()) return false;
  return std::all_of(a.fields().begin(), a.fields().end(), [&](const auto& field) {
    auto other = b.fields().find(field.first);
    return other != b.fields().end() && SameValue(field.second, other->second);
  });
}

bool SameList(const ListValue& a, const ListValue& b) {
  return std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end(), SameValue);
}

}  // namespace

absl::Status CheckFields(const std::string& name, const Struct& fields) {
  if (absl::Status status = CheckStruct(name, fields, 0); !status.ok()) return status;
  if (const size_t bytes = fields.ByteSizeLong(); bytes > kMaxRecordBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " are ", bytes, " bytes; they take at most ", kMaxRecordBytes));
  }
  return absl::OkStatus();
}

bool SameValue(const Value& a, const Value& b) {
  if (a.kind_case() != b.kind_case()) return false;
  switch (a.kind_case()) {
    case Value::kNumberValue:
      return a.number_value() == b.number_value();
    case Value::kStringValue:
      return a.string_value() == b.string_value();
    case Value::kBoolValue:
      return a.bool_value() == b.bool_value();
    case Value::kStructValue:
      return SameStruct(a.struct_value(), b.struct_value());
    case Value::kListValue:
      return SameList(a.list_value(), b.list_value());
    default:
      return true;
  }
}

std::vector<std::string> ChangedFields(const Struct& before, const Struct& after) {
  std::vector<std::string> changed;
  for (const auto& [name, value] : after.fields()) {
    auto old = before.fields().find(name);
    if (old == before.fields().end() || !SameValue(old->second, value)) changed.push_back(name);
  }
  for (const auto& [name, value] : before.fields()) {
    if (!after.fields().contains(name)) changed.push_back(name);
  }
  std::sort(changed.begin(), changed.end());
  return changed;
}

namespace {

// Below a name with a dot in it: "size.width" sets or removes `width` of the object `size`.
void ApplyInside(const Struct& from, std::string_view path, Struct* to) {
  const size_t dot = path.find('.');
  const std::string name(path.substr(0, dot));
  auto& fields = *to->mutable_fields();
  const auto source = from.fields().find(name);
  const bool there = source != from.fields().end();
  if (dot == path.npos) {
    if (there) {
      fields[name] = source->second;
    } else {
      fields.erase(name);
    }
    return;
  }
  const auto held = fields.find(name);
  const bool object = held != fields.end() && held->second.has_struct_value();
  if (!object && !(there && source->second.has_struct_value())) return;  // nothing to set or remove
  const Struct none;
  const Struct& inner = there && source->second.has_struct_value() ? source->second.struct_value() : none;
  ApplyInside(inner, path.substr(dot + 1), fields[name].mutable_struct_value());
}

}  // namespace

void ApplyPaths(const Struct& from, const std::vector<std::string>& paths, Struct* to) {
  auto& fields = *to->mutable_fields();
  if (paths.empty()) {
    for (const auto& [name, value] : from.fields()) fields[name] = value;
    return;
  }
  for (const std::string& path : paths) {
    auto found = from.fields().find(path);
    if (found != from.fields().end()) {
      fields[path] = found->second;
    } else if (fields.contains(path) || path.find('.') == std::string::npos) {
      fields.erase(path);
    } else {
      ApplyInside(from, path, to);
    }
  }
}

}  // namespace waymark
