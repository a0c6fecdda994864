#include "app/facet_option.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace waymark {
namespace {

bool ReadTimeHistogram(absl::string_view part, v1::FacetRequest* facet) {
  // "month", or with the clock that it is counted by: "month+02:00".
  const size_t offset = part.find_first_of("+-Z");
  v1::FacetRequest::TimeHistogram::Unit unit;
  const std::string name = absl::AsciiStrToUpper(part.substr(0, offset));
  if (!v1::FacetRequest::TimeHistogram::Unit_Parse(name, &unit)) return false;
  facet->mutable_time_histogram()->set_unit(unit);
  if (offset != absl::string_view::npos) {
    facet->mutable_time_histogram()->set_utc_offset(std::string(part.substr(offset)));
  }
  return true;
}

bool ReadPart(absl::string_view part, v1::FacetRequest* facet) {
  int limit = 0;
  double step = 0;
  const size_t dots = part.find("..");
  if (part == "disjunctive") {
    facet->set_disjunctive(true);
  } else if (absl::ConsumePrefix(&part, "find=")) {
    facet->set_value_query(std::string(part));
  } else if (absl::ConsumePrefix(&part, "step=")) {
    if (!absl::SimpleAtod(part, &step)) return false;
    facet->mutable_histogram()->set_interval(step);
  } else if (absl::ConsumePrefix(&part, "per=")) {
    return ReadTimeHistogram(part, facet);
  } else if (part == "statistics") {
    facet->set_statistics(true);
  } else if (absl::ConsumePrefix(&part, "levels=")) {
    int depth = 0;
    if (!absl::SimpleAtoi(part, &depth)) return false;
    facet->mutable_hierarchy()->set_depth(depth);
  } else if (absl::ConsumePrefix(&part, "under=")) {
    facet->mutable_hierarchy()->set_prefix(std::string(part));
  } else if (dots != absl::string_view::npos) {
    v1::FacetRequest::Range* range = facet->add_ranges();
    // As text: the server knows whether the field holds numbers or times.
    if (dots > 0) range->mutable_from()->set_string_value(std::string(part.substr(0, dots)));
    if (dots + 2 < part.size()) range->mutable_to()->set_string_value(std::string(part.substr(dots + 2)));
  } else if (absl::SimpleAtoi(part, &limit)) {
    facet->set_limit(limit);
  } else {
    return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<v1::FacetRequest> ReadFacetOption(const std::string& text) {
  v1::FacetRequest facet;
  const size_t colon = text.find(':');
  facet.set_field(text.substr(0, colon));
  if (colon == std::string::npos) return facet;
  for (const absl::string_view part : absl::StrSplit(absl::string_view(text).substr(colon + 1), ',')) {
    if (ReadPart(part, &facet)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--facet ", text, ": '", part,
                     "' is not understood; after the colon it takes ranges (0..1980), how many values (20), "
                     "find=TEXT, step=WIDTH, per=MONTH (or YEAR, WEEK, DAY, HOUR), levels=DEPTH, under=PATH, "
                     "statistics and disjunctive, joined by commas"));
  }
  return facet;
}

}  // namespace waymark
