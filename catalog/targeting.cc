#include "catalog/targeting.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "catalog/field_value.h"
#include "catalog/schema.h"

namespace waymark {
namespace {

using Kind = FilterNode::Kind;
using google::protobuf::Struct;
using google::protobuf::Value;

constexpr std::string_view kKnown[] = {"country", "platform", "surface", "tenant",
                                       "locale",  "device",   "referrer"};

bool EqualsText(const FilterNode& node, const std::string& held) {
  if (node.kind != Kind::kHas)
    return std::find(node.texts.begin(), node.texts.end(), held) != node.texts.end();
  const std::string folded = FoldCase(held);
  return std::any_of(node.texts.begin(), node.texts.end(),
                     [&](const std::string& text) { return FoldCase(text) == folded; });
}

bool Within(const FilterNode& node, double held) {
  for (size_t i = 0; i + 1 < node.numbers.size(); i += 2) {
    if (held >= node.numbers[i] && held <= node.numbers[i + 1]) return true;
  }
  return false;
}

// As docs/filters.md has it: `!=` asks that the field is there and that no element equals.
bool Compare(const FilterNode& node, const Struct& context) {
  const auto found = context.fields().find(node.field);
  if (found == context.fields().end()) return false;
  bool present = false, any = false;
  ForEachScalar(found->second, [&](const Value& value) {
    if (node.type == storage::FieldRecord::KEYWORD) {
      const std::optional<std::string> text = ScalarText(value);
      present |= text.has_value();
      any |= text.has_value() && EqualsText(node, *text);
    } else {
      const std::optional<double> number = ScalarNumber(value, node.type);
      present |= number.has_value();
      any |= number.has_value() && Within(node, *number);
    }
  });
  if (node.texts.empty() && node.numbers.empty() && node.kind == Kind::kHas) return present;
  return node.kind == Kind::kNotEquals ? present && !any : any;
}

bool Holds(const FilterNode& node, const Struct& context) {
  const auto holds = [&](const FilterNode& child) { return Holds(child, context); };
  switch (node.kind) {
    case Kind::kAll:
      return true;
    case Kind::kAnd:
      return std::all_of(node.children.begin(), node.children.end(), holds);
    case Kind::kOr:
      return std::any_of(node.children.begin(), node.children.end(), holds);
    case Kind::kNot:
      return !Holds(node.children[0], context);
    default:
      return Compare(node, context);
  }
}

}  // namespace

absl::StatusOr<Targeting> Targeting::Parse(std::string_view filter, const std::vector<Field>& declared,
                                           std::string_view place) {
  storage::SchemaRecord record;
  for (std::string_view name : kKnown) {
    storage::FieldRecord& field = *record.add_fields();
    field.set_name(std::string(name));
    field.set_type(storage::FieldRecord::KEYWORD);
    field.set_filterable(true);
  }
  for (const Field& field : declared) {
    *record.add_fields() = field;
    record.mutable_fields()->rbegin()->set_filterable(true);
  }
  auto schema = Schema::FromRecord(record);
  if (!schema.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("targeting_fields: ", std::string(schema.status().message())));
  }
  auto parsed = ParseFilter(filter, *schema);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(place), ": ", std::string(parsed.status().message())));
  }
  return Targeting(std::move(parsed->root));
}

bool Targeting::Matches(const google::protobuf::Struct& context) const { return Holds(root_, context); }

}  // namespace waymark
