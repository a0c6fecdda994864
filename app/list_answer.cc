#include "app/list_answer.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "app/exit.h"
#include "app/facet_table.h"
#include "app/json_output.h"
#include "app/progress.h"
#include "app/result_table.h"
#include "app/text_table.h"
#include "waymark/v1/catalog.pb.h"

namespace waymark {
namespace {

// What to do where nothing is found because the collection itself is empty; else nothing.
absl::StatusOr<std::string> WhereNothingIs(const std::string& parent, Backend* backend) {
  v1::ListItemsRequest request;
  request.set_parent(parent);
  request.set_page_size(1);
  v1::ListItemsResponse response;
  auto status = backend->Call("waymark.v1.CatalogService.ListItems", request, &response);
  if (!status.ok()) return status;
  if (!response.items().empty()) return "";
  return absl::StrCat(
      "there are no items in ", parent, " of ", backend->where(),
      " yet; events name items without making them: `waymark import items FILE` brings them\n");
}

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
  } else {
    auto why = WhereNothingIs(parent, backend);
    if (!why.ok()) return Fail(why.status());
    absl::StrAppend(&text, *why);
  }
  absl::StrAppend(&text, DegradedLines(response.degraded()),
                  ServedByLine(response.served_by(), response.timings()), "\n");
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? kDone : Fail(absl::UnavailableError("cannot write to standard output"));
}

// What curation did, a line each.
template <class Response>
std::string CuratedLines(const Response& response) {
  std::string lines;
  for (const v1::AppliedSynonym& synonym : response.applied_synonyms()) {
    absl::StrAppend(&lines, "synonym ", synonym.id(), ": ", synonym.typed(), " also finds ",
                    absl::StrJoin(synonym.stands_for(), ", "), "\n");
  }
  if (!response.applied_rules().empty()) {
    absl::StrAppend(&lines, response.applied_rules_size() == 1 ? "rule: " : "rules: ",
                    absl::StrJoin(response.applied_rules(), ", "), "\n");
  }
  std::string pinned;
  for (const v1::Result& result : response.results()) {
    if (result.pinned()) absl::StrAppend(&pinned, pinned.empty() ? "" : ", ", result.item().id());
  }
  if (!pinned.empty()) absl::StrAppend(&lines, "pinned: ", pinned, "\n");
  std::string drawn;
  for (const v1::Result& result : response.results()) {
    if (result.exploration().drawn()) absl::StrAppend(&drawn, drawn.empty() ? "" : ", ", result.item().id());
  }
  if (!drawn.empty()) absl::StrAppend(&lines, "drawn at random: ", drawn, "\n");
  if (!response.replacement_query().empty()) {
    absl::StrAppend(&lines, "searched for: ", response.replacement_query(), "\n");
  }
  if (!response.redirect_uri().empty()) absl::StrAppend(&lines, "go to: ", response.redirect_uri(), "\n");
  return lines;
}

}  // namespace

int PrintAnswer(const v1::SearchResponse& response, const std::string& parent, bool json, Backend* backend) {
  const std::string head = absl::StrCat(
      response.total_size_relation() == v1::AT_LEAST ? "at least " : "", WithThousands(response.total_size()),
      response.total_size() == 1 ? " item" : " items", "\n",
      response.corrected_query().empty() ? ""
                                         : absl::StrCat("did you mean: ", response.corrected_query(), "\n"),
      response.left_out_words().empty()
          ? ""
          : absl::StrCat("left out: ", absl::StrJoin(response.left_out_words(), ", "), "\n"),
      CuratedLines(response), FacetTables(response.facets(), TerminalWidth()));
  return Print(response, head, parent, json, backend);
}

int PrintAnswer(const v1::RecommendResponse& response, const std::string& parent, bool json,
                Backend* backend) {
  return Print(response, absl::StrCat(response.results().empty() ? "no items\n" : "", CuratedLines(response)),
               parent, json, backend);
}

}  // namespace waymark
