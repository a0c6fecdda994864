#include "catalog/facet.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "catalog/column_field.h"
#include "catalog/field_value.h"
#include "catalog/filter_value.h"

namespace waymark {
namespace {

using google::protobuf::Value;
using storage::FieldRecord;

constexpr double kNoBound = std::numeric_limits<double>::infinity();

absl::Status Refused(std::string_view place, std::string_view field, std::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(place), field.empty() ? "" : ".",
                                                 std::string(field), ": ", std::string(message)));
}

bool Given(const Value& value) {
  return value.kind_case() != Value::KIND_NOT_SET && value.kind_case() != Value::kNullValue;
}

// One end of a range. Text is read as in filters: numbers too, for callers that do not know the type.
absl::StatusOr<double> ReadEnd(const Value& value, const Field& field, std::string_view place) {
  const bool time = field.type() == FieldRecord::TIME;
  if (value.kind_case() == Value::kStringValue) {
    if (const auto read = ReadInterval(field, value.string_value())) return read->lowest;
  } else if (value.kind_case() == Value::kNumberValue && std::isfinite(value.number_value()) && !time) {
    return value.number_value() == 0 ? 0.0 : value.number_value();
  }
  return Refused(
      place, "",
      absl::StrCat("is ", ShortenedValue(value), "; field '", field.name(), "' is ",
                   std::string(TypeName(field.type())), ": it takes ",
                   time ? "text as \"1995-11-22T10:00:00Z\", \"1995-11-22\", \"1995-11\" or \"1995\""
                        : "a number, as 1990"));
}

std::string InQuotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string NameInFilter(const std::string& name) {
  bool bare = !name.empty() && !absl::ascii_isdigit(name[0]);
  for (const char c : name) bare &= absl::ascii_isalnum(c) || c == '_' || c == '.';
  if (bare && name != "AND" && name != "OR" && name != "NOT" && name != "IN") return name;
  return InQuotes(name);
}

std::string EndInFilter(const Field& field, double end) {
  if (field.type() != FieldRecord::TIME) return NumberText(end);
  return absl::FormatTime("\"%Y-%m-%dT%H:%M:%E*SZ\"", absl::FromUnixMicros(static_cast<int64_t>(end)),
                          absl::UTCTimeZone());
}

// The largest value of the field's kind that is below `end`.
double Below(const Field& field, double end) {
  if (std::isinf(end)) return end;
  if (field.type() == FieldRecord::FLOATING) return std::nextafter(end, -kNoBound);
  return std::ceil(end) - 1;  // whole numbers and microseconds
}

absl::Status CheckValues(const FacetSpec& spec, const Field& field, std::string_view place) {
  if (spec.limit < 0 || spec.limit > kMostFacetValues) {
    return Refused(place, "limit",
                   absl::StrCat("is ", spec.limit, "; it takes 1 to ", kMostFacetValues, ", or 0 for ",
                                kDefaultFacetValues));
  }
  if (spec.value_query.empty()) return absl::OkStatus();
  if (field.type() != FieldRecord::KEYWORD) {
    return Refused(place, "value_query",
                   absl::StrCat("field '", field.name(), "' is ", std::string(TypeName(field.type())),
                                "; it goes with KEYWORD fields"));
  }
  if (spec.value_query.size() > kMostValueQueryBytes || !IsValidUtf8(spec.value_query)) {
    return Refused(place, "value_query",
                   absl::StrCat("has ", spec.value_query.size(), " bytes; it takes UTF-8 text of at most ",
                                kMostValueQueryBytes, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status CheckRanges(std::string_view place, Facet* facet) {
  const FacetSpec& spec = facet->spec;
  if (spec.ranges.size() > kMostFacetRanges) {
    return Refused(place, "ranges",
                   absl::StrCat("has ", spec.ranges.size(), "; it takes at most ", kMostFacetRanges));
  }
  for (size_t i = 0; i < spec.ranges.size(); ++i) {
    const std::string here = absl::StrCat(std::string(place), ".ranges[", i, "]");
    double from = -kNoBound, to = kNoBound;
    for (const auto& [value, end, name] :
         {std::tuple{&spec.ranges[i].from, &from, ".from"}, std::tuple{&spec.ranges[i].to, &to, ".to"}}) {
      if (!Given(*value)) continue;
      const auto read = ReadEnd(*value, facet->field, here + name);
      if (!read.ok()) return read.status();
      *end = *read;
    }
    if (from >= to) {
      return Refused(here, "", "is empty: `from` must be less than `to`, which is not in the range itself");
    }
    facet->ranges.push_back(HalfOpenRange(facet->field, from, to));
  }
  return absl::OkStatus();
}

absl::Status CheckHierarchy(FacetSpec* spec, const Field& field, std::string_view place) {
  FacetSpec::Hierarchy& asked = *spec->hierarchy;
  if (field.type() != FieldRecord::KEYWORD) {
    return Refused(place, "hierarchy",
                   absl::StrCat("field '", field.name(), "' is ", std::string(TypeName(field.type())),
                                "; it goes with KEYWORD fields"));
  }
  if (!spec->value_query.empty()) {
    return Refused(place, "value_query", "does not go with a hierarchy; leave one of them out");
  }
  if (asked.depth < 0 || asked.depth > kDeepestPaths) {
    return Refused(place, "hierarchy.depth",
                   absl::StrCat("is ", asked.depth, "; it takes 1 to ", kDeepestPaths, ", or 0 for 1"));
  }
  for (const auto& [text, name] :
       {std::pair{&asked.separator, "hierarchy.separator"}, std::pair{&asked.prefix, "hierarchy.prefix"}}) {
    if (text->size() <= 1024 && IsValidUtf8(*text)) continue;
    return Refused(place, name,
                   absl::StrCat("has ", text->size(), " bytes; it takes UTF-8 text of at most 1,024 bytes"));
  }
  if (asked.separator.empty()) asked.separator = kPathSeparator;
  if (asked.depth == 0) asked.depth = 1;
  return absl::OkStatus();
}

absl::Status CheckTimeHistogram(std::string_view place, Facet* facet) {
  const FacetSpec::TimeHistogram& asked = *facet->spec.time_histogram;
  if (facet->field.type() != FieldRecord::TIME) {
    return Refused(
        place, "time_histogram",
        absl::StrCat("field '", facet->field.name(), "' is ", std::string(TypeName(facet->field.type())),
                     "; it goes with TIME fields (histogram takes numbers)"));
  }
  const auto zone = ParseUtcOffset(asked.utc_offset);
  if (!zone) {
    return Refused(place, "time_histogram.utc_offset",
                   absl::StrCat("is '", ShortenedText(asked.utc_offset),
                                "'; it takes Z, +02:00, -05:30, ... of at most 18 hours"));
  }
  facet->zone = *zone;
  return absl::OkStatus();
}

absl::Status CheckHistogram(double interval, const Field& field, std::string_view place) {
  if (field.type() == FieldRecord::TIME) {
    return Refused(
        place, "histogram",
        absl::StrCat(
            "field '", field.name(),
            "' is TIME; it goes with INTEGER and FLOATING fields (ranges and time_histogram take times)"));
  }
  if (interval > 0 && std::isfinite(interval)) return absl::OkStatus();
  return Refused(place, "histogram.interval", absl::StrCat("is ", interval, "; it takes a number over 0"));
}

}  // namespace

std::string PathFilter(const Field& field, std::string_view path, std::string_view separator) {
  std::string filter = absl::StrCat("path(", NameInFilter(field.name()), ", ", InQuotes(path));
  if (separator != kPathSeparator) absl::StrAppend(&filter, ", ", InQuotes(separator));
  return filter + ")";
}

Facet::Range HalfOpenRange(const Field& field, double from, double to) {
  Facet::Range range{from, Below(field, to), ""};
  const std::string name = NameInFilter(field.name());
  if (std::isinf(from) && std::isinf(to)) {
    range.filter = absl::StrCat(name, ":*");
  } else if (std::isinf(to)) {
    range.filter = absl::StrCat(name, " >= ", EndInFilter(field, from));
  } else if (std::isinf(from)) {
    range.filter = absl::StrCat(name, " < ", EndInFilter(field, to));
  } else if (range.lowest <= range.highest && (field.array() || field.type() == FieldRecord::INTEGER)) {
    // Of an array one value must lie inside, which two comparisons do not say.
    range.filter = absl::StrCat(name, ":", EndInFilter(field, from), "..", EndInFilter(field, range.highest));
  } else {
    range.filter =
        absl::StrCat(name, " >= ", EndInFilter(field, from), " AND ", name, " < ", EndInFilter(field, to));
  }
  return range;
}

absl::StatusOr<Facet> CheckFacet(FacetSpec spec, const Schema& schema, std::string_view place) {
  static constexpr FieldType kTypes[] = {FieldRecord::KEYWORD, FieldRecord::INTEGER, FieldRecord::FLOATING,
                                         FieldRecord::BOOLEAN, FieldRecord::TIME};
  static constexpr FieldType kOrdered[] = {FieldRecord::INTEGER, FieldRecord::FLOATING, FieldRecord::TIME};
  Facet facet;
  facet.spec = std::move(spec);
  const std::string field_place = absl::StrCat(std::string(place), ".field");
  const bool by_value = facet.by_value() && facet.spec.ranges.empty();
  auto field = by_value ? FindColumnField(schema, facet.spec.field, field_place, kTypes)
                        : FindColumnField(schema, facet.spec.field, field_place, kOrdered);
  if (!field.ok()) return field.status();
  if (!(*field)->filterable()) {
    return Refused(
        place, "field",
        absl::StrCat("'", (*field)->name(), "' is not filterable; declare it with filterable = true"));
  }
  facet.field = **field;
  if (facet.spec.statistics &&
      std::find(std::begin(kOrdered), std::end(kOrdered), facet.field.type()) == std::end(kOrdered)) {
    return Refused(
        place, "statistics",
        absl::StrCat("field '", facet.field.name(), "' is ", std::string(TypeName(facet.field.type())),
                     "; they go with INTEGER, FLOATING and TIME fields"));
  }
  if (facet.spec.hierarchy && !by_value) {
    return Refused(place, "hierarchy", "counts paths; leave it out beside ranges or a histogram");
  }
  if (by_value) {
    if (auto status = CheckValues(facet.spec, facet.field, place); !status.ok()) return status;
    if (facet.spec.hierarchy) {
      if (auto status = CheckHierarchy(&facet.spec, facet.field, place); !status.ok()) return status;
    }
    if (facet.spec.limit == 0) facet.spec.limit = kDefaultFacetValues;
    return facet;
  }
  for (const auto& [given, name] : {std::pair{facet.spec.limit != 0, "limit"},
                                    std::pair{!facet.spec.value_query.empty(), "value_query"}}) {
    if (given) return Refused(place, name, "goes with values; leave it out beside ranges or a histogram");
  }
  if (auto status = CheckRanges(place, &facet); !status.ok()) return status;
  if (facet.spec.histogram_interval) {
    auto status = CheckHistogram(*facet.spec.histogram_interval, facet.field, place);
    if (!status.ok()) return status;
  }
  if (facet.spec.time_histogram) {
    if (auto status = CheckTimeHistogram(place, &facet); !status.ok()) return status;
  }
  return facet;
}

}  // namespace waymark
