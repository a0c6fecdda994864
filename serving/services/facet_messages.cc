#include "serving/services/facet_messages.h"

namespace waymark {
namespace {

void Fill(const std::vector<FacetCounts::Range>& counted,
          google::protobuf::RepeatedPtrField<v1::Facet::Range>* ranges) {
  for (const FacetCounts::Range& from : counted) {
    v1::Facet::Range* range = ranges->Add();
    // An end without a kind could not be written as JSON.
    if (from.from.kind_case() != google::protobuf::Value::KIND_NOT_SET) *range->mutable_from() = from.from;
    if (from.to.kind_case() != google::protobuf::Value::KIND_NOT_SET) *range->mutable_to() = from.to;
    range->set_count(from.count);
    range->set_filter(from.filter);
  }
}

}  // namespace

std::vector<FacetAsked> FacetsOf(const v1::SearchRequest& request) {
  std::vector<FacetAsked> facets;
  for (const v1::FacetRequest& from : request.facets()) {
    FacetAsked& facet = facets.emplace_back();
    facet.spec.field = from.field();
    facet.spec.limit = from.limit();
    facet.spec.value_query = from.value_query();
    for (const v1::FacetRequest::Range& range : from.ranges()) {
      facet.spec.ranges.push_back({range.from(), range.to()});
    }
    if (from.has_histogram()) facet.spec.histogram_interval = from.histogram().interval();
    facet.excluded_filter_fields.assign(from.excluded_filter_fields().begin(),
                                        from.excluded_filter_fields().end());
    facet.disjunctive = from.disjunctive();
  }
  return facets;
}

void ToMessage(const FacetAnswer& answer, v1::Facet* facet) {
  facet->set_field(answer.field);
  for (const FacetCounts::Value& from : answer.counts.values) {
    v1::Facet::Value* value = facet->add_values();
    value->set_value(from.value);
    value->set_count(from.count);
  }
  Fill(answer.counts.ranges, facet->mutable_ranges());
  Fill(answer.counts.histogram, facet->mutable_histogram());
  facet->set_distinct_count(answer.counts.distinct);
  facet->set_other_count(answer.counts.other);
  facet->set_missing_count(answer.counts.missing);
}

}  // namespace waymark
