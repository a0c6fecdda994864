#include "app/facet_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "app/progress.h"
#include "app/result_table.h"
#include "app/text_table.h"

namespace waymark {
namespace {

std::string RangeText(const v1::Facet::Range& range) {
  return absl::StrCat(range.has_from() ? FieldText(range.from()) : "", "..",
                      range.has_to() ? FieldText(range.to()) : "");
}

std::string FacetTable(const v1::Facet& facet, int width) {
  TextTable table({{facet.field(), TextTable::kText}, {"items", TextTable::kRight}});
  for (const v1::Facet::Value& value : facet.values()) {
    table.Add({value.value(), WithThousands(value.count())});
  }
  for (const auto* ranges : {&facet.ranges(), &facet.histogram()}) {
    for (const v1::Facet::Range& range : *ranges) {
      table.Add({RangeText(range), WithThousands(range.count())});
    }
  }
  for (const v1::Facet::Path& path : facet.paths()) {
    const int top = facet.paths(0).depth();
    table.Add({std::string(static_cast<size_t>(path.depth() - top) * 2, ' ') + path.label(),
               WithThousands(path.count())});
  }
  if (facet.other_count() > 0) {
    const int64_t hidden = facet.distinct_count() - facet.values_size() - facet.paths_size();
    table.Add({hidden > 0 ? absl::StrCat("(", WithThousands(hidden), hidden == 1 ? " other)" : " others)")
                          : "(in no range)",
               WithThousands(facet.other_count())});
  }
  if (facet.missing_count() > 0) table.Add({"(without)", WithThousands(facet.missing_count())});
  std::string text = table.Render(width);
  if (facet.has_statistics()) {
    const v1::Facet::Statistics& found = facet.statistics();
    absl::StrAppendFormat(&text, "%s from %g to %g, %g on average of %s values\n", facet.field(), found.min(),
                          found.max(), found.mean(), WithThousands(found.values()));
  }
  return text;
}

}  // namespace

std::string FacetTables(const google::protobuf::RepeatedPtrField<v1::Facet>& facets, int width) {
  std::string text;
  for (const v1::Facet& facet : facets) absl::StrAppend(&text, FacetTable(facet, width), "\n");
  return text;
}

}  // namespace waymark
