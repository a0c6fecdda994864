// Whom an experiment or a rule is for: a filter (docs/filters.md) over what a request says of its caller.
//
//   auto targeting = Targeting::Parse("country IN (\"DE\", \"AT\") AND platform = \"web\"", fields);
//   targeting->Matches(context)
//
// Immutable; thread-safe.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/filter.h"
#include "google/protobuf/struct.pb.h"

namespace waymark {

class Targeting {
 public:
  // An empty filter matches everybody. It may name country, platform, surface, tenant, locale, device,
  // referrer (KEYWORD) and `declared`, the operator's own. INVALID_ARGUMENT names `place` and points at the
  // column.
  static absl::StatusOr<Targeting> Parse(std::string_view filter, const std::vector<Field>& declared,
                                         std::string_view place = "targeting");

  bool Matches(const google::protobuf::Struct& context) const;
  bool everybody() const { return root_.kind == FilterNode::Kind::kAll; }

 private:
  explicit Targeting(FilterNode root) : root_(std::move(root)) {}
  FilterNode root_;
};

}  // namespace waymark
