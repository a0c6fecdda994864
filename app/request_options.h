// Options that searches and feeds share: for whom, in what context, how many.
#pragma once
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "store/rows/field_mapping.h"
#include "waymark/v1/curated_answer.pb.h"
#include "waymark/v1/ranked_answer.pb.h"

namespace CLI {
class App;
}

namespace waymark {

struct RequestOptions {
  std::string user, visitor, session, surface, filter, page_token, release, personalization,
      consistency_token;
  std::vector<std::string> context, fields;  // KEY=VALUE; names
  std::string group_by;                      // FIELD or FIELD:N
  int limit = 0;
  bool explain = false;
  bool no_curation = false;
};

void AddRequestOptions(CLI::App* command, RequestOptions* options);

// FIELD, or FIELD:N for the best N of each value. INVALID_ARGUMENT names the option.
absl::Status ReadGroupOption(const std::string& text, v1::GroupBy* group_by);

// INVALID_ARGUMENT names the option.
template <class Request>
absl::Status FillRequest(const RequestOptions& options, const std::string& parent, Request* request) {
  request->set_parent(parent);
  request->set_user_id(options.user);
  request->set_visitor_id(options.visitor);
  request->set_session_id(options.session);
  request->set_surface(options.surface);
  request->set_filter(options.filter);
  request->set_page_size(options.limit);
  request->set_page_token(options.page_token);
  request->set_release(options.release);
  request->set_consistency_token(options.consistency_token);
  request->set_explain(options.explain);
  if (!options.group_by.empty()) {
    if (auto status = ReadGroupOption(options.group_by, request->mutable_group_by()); !status.ok())
      return status;
  }
  for (const std::string& field : options.fields) request->add_fields(field);
  for (const std::string& text : options.context) {
    auto constant = ParseConstant(text);
    if (!constant.ok())
      return absl::InvalidArgumentError(absl::StrCat("--context: ", constant.status().message()));
    (*request->mutable_context()->mutable_fields())[constant->first] = constant->second;
  }
  if (options.no_curation) request->set_curation(v1::Curation::OFF);
  if (options.personalization == "session-only") {
    request->set_personalization(v1::SESSION_ONLY);
  } else if (options.personalization == "off") {
    request->set_personalization(v1::OFF);
  }
  return absl::OkStatus();
}

}  // namespace waymark
