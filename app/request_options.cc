#include "app/request_options.h"

#include <CLI/CLI.hpp>

#include "absl/strings/numbers.h"

namespace waymark {

void AddRequestOptions(CLI::App* command, RequestOptions* options) {
  command->add_option("-u,--user", options->user, "for this user")->type_name("ID");
  command->add_option("--visitor", options->visitor, "for a visitor who is not known")->type_name("ID");
  command->add_option("--session", options->session, "the session that it belongs to")->type_name("ID");
  command
      ->add_option("-f,--filter", options->filter,
                   "only items that pass, as 'year >= 1990 AND genres = \"Drama\"'")
      ->type_name("FILTER");
  command->add_option("-n,--limit", options->limit, "how many items (at most 100)")->type_name("N");
  command
      ->add_option("--group-by", options->group_by,
                   "the best of each value of a field; genres:3: the best three")
      ->type_name("FIELD[:N]");
  command->add_option("--page-token", options->page_token, "the page after the one that named it")
      ->type_name("TOKEN");
  command->add_option("--surface", options->surface, "where the list is shown")->type_name("NAME");
  command->add_option("--context", options->context, "what is known of the request")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--fields", options->fields, "return only these fields")
      ->delimiter(',')
      ->type_name("NAME,...");
  command->add_option("--personalization", options->personalization, "auto, session-only or off")
      ->check(CLI::IsMember({"auto", "session-only", "off"}))
      ->type_name("MODE");
  command->add_option("--release", options->release, "answer with this release")->type_name("ID");
  command->add_option("--consistency-token", options->consistency_token, "see the write that answered it")
      ->type_name("TOKEN");
  command->add_flag("--no-curation", options->no_curation, "as if there were no synonyms and no rules");
  command->add_flag("--explain", options->explain, "what each feature adds to the score");
}

absl::Status ReadGroupOption(const std::string& text, v1::GroupBy* group_by) {
  const size_t colon = text.rfind(':');
  int limit = 0;
  if (colon != std::string::npos && !absl::SimpleAtoi(text.substr(colon + 1), &limit)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--group-by ", text, ": after the colon it takes how many of each, as genres:3"));
  }
  group_by->set_field(text.substr(0, colon));
  group_by->set_limit(limit);
  return absl::OkStatus();
}

}  // namespace waymark
