#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "app/commands/commands.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/progress.h"
#include "app/target.h"
#include "app/text_table.h"
#include "waymark/v1/suggest.pb.h"

namespace waymark {
namespace suggest_command {
namespace {

struct Options {
  Target target;
  std::string query, filter, consistency_token;
  std::string typos = "auto";
  std::vector<std::string> kinds, fields;
  int limit = 0;
};

std::string What(const v1::Suggestion& suggestion) {
  switch (suggestion.kind()) {
    case v1::TITLES:
    case v1::FIELD_VALUES:
      return suggestion.field();
    default:
      return "searched for";
  }
}

std::string Text(const v1::SuggestResponse& response) {
  std::string text = response.suggestions().empty() ? "no suggestions\n" : "";
  if (!response.suggestions().empty()) {
    TextTable table({{"suggestion"}, {"of", TextTable::kWhole}, {"items", TextTable::kRight}, {"id"}});
    for (const v1::Suggestion& suggestion : response.suggestions()) {
      const std::string& item = suggestion.item();
      const bool counted = suggestion.kind() != v1::PAST_QUERIES;  // of those it counts people
      const size_t id = item.find("/items/");
      table.Add({suggestion.text(), What(suggestion), counted ? WithThousands(suggestion.count()) : "",
                 id == std::string::npos ? "" : item.substr(id + 7)});
    }
    text = table.Render(TerminalWidth());
  }
  for (const v1::Degradation& degraded : response.degraded()) absl::StrAppend(&text, degraded.reason(), "\n");
  for (const v1::StageTiming& timing : response.timings()) {
    absl::StrAppend(&text, absl::StrFormat("%.3f ms\n", timing.milliseconds()));
  }
  return text;
}

int RunSuggest(const Options& options) {
  v1::SuggestRequest request;
  request.set_parent(Parent(options.target));
  request.set_query(options.query);
  request.set_limit(options.limit);
  request.set_filter(options.filter);
  request.set_consistency_token(options.consistency_token);
  for (const std::string& kind : options.kinds) {
    request.add_kinds(kind == "title" ? v1::TITLES : kind == "value" ? v1::FIELD_VALUES : v1::PAST_QUERIES);
  }
  for (const std::string& field : options.fields) request.add_fields(field);
  if (options.typos == "off") request.set_typo_tolerance(v1::SuggestRequest::OFF);
  if (options.typos == "always") request.set_typo_tolerance(v1::SuggestRequest::ALWAYS);
  auto backend = OpenTarget(options.target, Access::kRead);
  if (!backend.ok()) return Fail(backend.status());
  v1::SuggestResponse response;
  auto status = (*backend)->Call("waymark.v1.SearchService.Suggest", request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  std::fputs(Text(response).c_str(), stdout);
  return kDone;
}

}  // namespace
}  // namespace suggest_command

void AddSuggest(CLI::App* app, Run* run) {
  using namespace suggest_command;
  CLI::App* command = AddCommand(app, "suggest", "Complete what somebody is typing",
                                 "  waymark suggest sta --data DIR\n"
                                 "  waymark suggest 'star w' --data DIR --kind title --filter 'year < 1990'");
  auto options = std::make_shared<Options>();
  AddTargetOptions(command, &options->target);
  command->add_option("query", options->query, "what was typed so far; without it what is popular")
      ->type_name("TEXT");
  command->add_option("-n,--limit", options->limit, "how many (at most 50)")->type_name("N");
  command
      ->add_option("--kind", options->kinds,
                   "titles of items, values of fields, past queries: title, value, query; may be given again")
      ->check(CLI::IsMember({"title", "value", "query"}))
      ->delimiter(',')
      ->type_name("KIND");
  command->add_option("--fields", options->fields, "titles and values of these fields only")
      ->delimiter(',')
      ->type_name("NAME,...");
  command->add_option("-f,--filter", options->filter, "only items that pass, as 'year >= 1990'")
      ->type_name("FILTER");
  command
      ->add_option("--typo-tolerance", options->typos,
                   "whether typing errors are put right: auto (where nothing begins so), off, always")
      ->check(CLI::IsMember({"auto", "off", "always"}));
  command->add_option("--consistency-token", options->consistency_token, "see the write that answered it")
      ->type_name("TOKEN");
  command->callback([=] { *run = [options] { return RunSuggest(*options); }; });
}

}  // namespace waymark
