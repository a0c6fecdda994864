// Which method of the API answers an HTTP request: read from the google.api.http annotations of the
// descriptors, all bindings of them.
//
//   auto routes = HttpRoutes::Make({"waymark.v1.SearchService"});
//   HttpMatch match = routes->Find("POST", "/v1/search");
//   match.route->method->full_name();  // "waymark.v1.SearchService.Search"
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "serving/http/path_template.h"

namespace waymark {

struct HttpRoute {
  std::string verb;  // "GET", "POST", ...
  PathTemplate path;
  std::string body;  // "*": the whole message; a field's name; empty: no body
  const google::protobuf::MethodDescriptor* method = nullptr;
};

struct HttpMatch {
  const HttpRoute* route = nullptr;  // null: none
  PathVariables variables;
  // Where the path is known, but not with this HTTP method: those it takes.
  std::vector<std::string> allowed;
};

// Immutable; thread-safe.
class HttpRoutes {
 public:
  // FAILED_PRECONDITION: an annotation that the gateway cannot serve.
  static absl::StatusOr<HttpRoutes> Make(const std::vector<std::string>& services);
  // `path`: as it came, without the query.
  HttpMatch Find(std::string_view verb, std::string_view path) const;
  const std::vector<HttpRoute>& routes() const { return routes_; }

 private:
  std::vector<HttpRoute> routes_;  // the most specific first
};

}  // namespace waymark
