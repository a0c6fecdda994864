#include "app/list_answer.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "app/exit.h"
#include "app/facet_table.h"
#include "app/json_output.h"
#include "app/progress.h"
#include "app/result_table.h"
#include "app/text_table.h"

namespace waymark {
namespace {

template <class Response>
int Print(const Response& response, const std::string& head, const std::string& parent, bool json,
          Backend* backend) {
  if (json) return PrintJson(response);
  v1::GetSchemaRequest request;
  request.set_parent(parent);
  v1::Schema schema;
  auto status = backend->Call("waymark.v1.CatalogService.GetSchema", request, &schema);
  if (!status.ok()) return Fail(status);
  std::string text = head;
  if (!response.results().empty()) {
    absl::StrAppend(&text, ResultTable(response.results(), ChooseFields(schema), TerminalWidth()));
  }
  absl::StrAppend(&text, DegradedLines(response.degraded()),
                  ServedByLine(response.served_by(), response.timings()), "\n");
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? kDone : Fail(absl::UnavailableError("cannot write to standard output"));
}

}  // namespace

int PrintAnswer(const v1::SearchResponse& response, const std::string& parent, bool json, Backend* backend) {
  const std::string head = absl::StrCat(
      response.total_size_relation() == v1::AT_LEAST ? "at least " : "", WithThousands(response.total_size()),
      response.total_size() == 1 ? " item" : " items", "\n",
      response.corrected_query().empty() ? ""
                                         : absl::StrCat("did you mean: ", response.corrected_query(), "\n"),
      FacetTables(response.facets(), TerminalWidth()));
  return Print(response, head, parent, json, backend);
}

int PrintAnswer(const v1::RecommendResponse& response, const std::string& parent, bool json,
                Backend* backend) {
  return Print(response, response.results().empty() ? "no items\n" : "", parent, json, backend);
}

}  // namespace waymark
