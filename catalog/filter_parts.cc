#include "catalog/filter_parts.h"

#include <algorithm>

namespace waymark {
namespace {

using Kind = FilterNode::Kind;

bool OnlyOf(const FilterNode& node, absl::Span<const std::string> fields) {
  if (node.kind == Kind::kAll) return false;
  if (!node.children.empty()) {
    return std::all_of(node.children.begin(), node.children.end(),
                       [&](const FilterNode& child) { return OnlyOf(child, fields); });
  }
  return std::find(fields.begin(), fields.end(), node.field) != fields.end();
}

FilterNode Without(const FilterNode& node, absl::Span<const std::string> fields) {
  if (OnlyOf(node, fields)) return {};
  if (node.kind != Kind::kAnd) return node;
  FilterNode kept{.kind = Kind::kAnd};
  for (const FilterNode& child : node.children) {
    FilterNode part = Without(child, fields);
    if (part.kind != Kind::kAll) kept.children.push_back(std::move(part));
  }
  return kept.children.size() == 1 ? std::move(kept.children[0]) : std::move(kept);
}

}  // namespace

Filter WithoutFields(const Filter& filter, absl::Span<const std::string> fields) {
  return {Without(filter.root, fields), filter.text};
}

}  // namespace waymark
