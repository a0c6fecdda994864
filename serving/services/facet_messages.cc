#include "serving/services/facet_messages.h"

#include "absl/strings/str_cat.h"
#include "serving/status_details.h"

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

absl::StatusOr<TimeUnit> UnitOf(v1::FacetRequest::TimeHistogram::Unit unit, size_t place) {
  switch (unit) {
    case v1::FacetRequest::TimeHistogram::YEAR:
      return TimeUnit::kYear;
    case v1::FacetRequest::TimeHistogram::MONTH:
      return TimeUnit::kMonth;
    case v1::FacetRequest::TimeHistogram::WEEK:
      return TimeUnit::kWeek;
    case v1::FacetRequest::TimeHistogram::DAY:
      return TimeUnit::kDay;
    case v1::FacetRequest::TimeHistogram::HOUR:
      return TimeUnit::kHour;
    default:
      return InvalidField(
          absl::StrCat("facets[", place, "].time_histogram.unit"),
          absl::StrCat("is ", static_cast<int>(unit), "; it takes YEAR, MONTH, WEEK, DAY or HOUR"));
  }
}

}  // namespace

absl::StatusOr<std::vector<FacetAsked>> FacetsOf(const v1::SearchRequest& request) {
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
    if (from.has_hierarchy()) {
      facet.spec.hierarchy = {from.hierarchy().separator(), from.hierarchy().prefix(),
                              from.hierarchy().depth()};
    }
    if (from.has_time_histogram()) {
      auto unit = UnitOf(from.time_histogram().unit(), facets.size() - 1);
      if (!unit.ok()) return unit.status();
      facet.spec.time_histogram = {*unit, from.time_histogram().utc_offset()};
    }
    facet.spec.statistics = from.statistics();
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
  for (const FacetCounts::Path& from : answer.counts.paths) {
    v1::Facet::Path* path = facet->add_paths();
    path->set_path(from.path);
    path->set_label(from.label);
    path->set_depth(from.depth);
    path->set_count(from.count);
    path->set_filter(from.filter);
    path->set_children(from.children);
  }
  if (answer.counts.statistics) {
    const FacetCounts::Statistics& from = *answer.counts.statistics;
    v1::Facet::Statistics* statistics = facet->mutable_statistics();
    statistics->set_min(from.min);
    statistics->set_max(from.max);
    statistics->set_mean(from.mean());
    statistics->set_sum(from.sum);
    statistics->set_values(from.values);
  }
  facet->set_distinct_count(answer.counts.distinct);
  facet->set_other_count(answer.counts.other);
  facet->set_missing_count(answer.counts.missing);
}

}  // namespace waymark
