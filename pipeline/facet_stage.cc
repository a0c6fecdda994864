#include "pipeline/facet_stage.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "catalog/filter_parts.h"

namespace waymark {
namespace {

// What passes the filter without some fields, made once for the facets that share it.
class FilterVariants {
 public:
  explicit FilterVariants(const FacetBase& base) : base_(base) {}

  const ItemSet* Without(const std::vector<std::string>& fields) {
    if (base_.filter == nullptr || fields.empty()) return base_.allowed.get();
    auto [place, is_new] = made_.try_emplace(fields);
    if (is_new) {
      place->second = base_.catalog->Evaluate(WithoutFields(*base_.filter, fields));
      if (base_.curated) {
        place->second = std::make_shared<const ItemSet>(ItemSet::Both(*place->second, *base_.curated));
      }
    }
    return place->second.get();
  }

 private:
  const FacetBase& base_;
  std::map<std::vector<std::string>, std::shared_ptr<const ItemSet>> made_;
};

}  // namespace

absl::StatusOr<std::vector<CheckedFacet>> CheckFacets(const std::vector<FacetAsked>& asked,
                                                      const Schema& schema) {
  if (asked.size() > kMostFacets) {
    return absl::InvalidArgumentError(
        absl::StrCat("facets: ", asked.size(), " are asked for; it takes at most ", kMostFacets));
  }
  std::vector<CheckedFacet> checked;
  for (size_t i = 0; i < asked.size(); ++i) {
    const std::string place = absl::StrCat("facets[", i, "]");
    auto facet = CheckFacet(asked[i].spec, schema, place);
    if (!facet.ok()) return facet.status();
    std::vector<std::string> excluded = asked[i].excluded_filter_fields;
    for (const std::string& field : excluded) {
      if (schema.Find(field) != nullptr) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(place, ".excluded_filter_fields: '", field,
                       "' is not in the schema; it takes fields that the filter compares"));
    }
    if (asked[i].disjunctive) excluded.push_back(facet->field.name());
    std::sort(excluded.begin(), excluded.end());
    excluded.erase(std::unique(excluded.begin(), excluded.end()), excluded.end());
    checked.push_back({*std::move(facet), std::move(excluded)});
  }
  return checked;
}

absl::StatusOr<std::vector<FacetAnswer>> CountFacets(const std::vector<CheckedFacet>& facets,
                                                     const FacetBase& base, Deadline deadline,
                                                     std::vector<Degraded>* degraded) {
  std::vector<FacetAnswer> answers;
  FilterVariants allowed(base);
  const auto expired = [&] { return deadline.Expired(); };
  for (size_t i = 0; i < facets.size(); ++i) {
    const CheckedFacet& asked = facets[i];
    absl::StatusOr<FacetCounts> counts = absl::DeadlineExceededError("not begun");
    if (!expired()) {
      counts = CountFacet(*base.catalog, asked.facet, allowed.Without(asked.excluded_filter_fields),
                          base.matches.get(), expired);
    }
    if (absl::IsDeadlineExceeded(counts.status())) {
      degraded->push_back({"facets", absl::StrCat("the deadline passed before '", asked.facet.field.name(),
                                                  "' was counted")});
      continue;
    }
    if (!counts.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("facets[", i, "].", std::string(counts.status().message())));
    }
    answers.push_back({asked.facet.field.name(), *std::move(counts)});
  }
  return answers;
}

}  // namespace waymark
