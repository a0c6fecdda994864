#include "serving/http/http_routes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/api/annotations.pb.h"

namespace waymark {
namespace {

using google::api::HttpRule;
using google::protobuf::MethodDescriptor;

std::pair<std::string, std::string> VerbAndPath(const HttpRule& rule) {
  switch (rule.pattern_case()) {
    case HttpRule::kGet:
      return {"GET", rule.get()};
    case HttpRule::kPut:
      return {"PUT", rule.put()};
    case HttpRule::kPost:
      return {"POST", rule.post()};
    case HttpRule::kDelete:
      return {"DELETE", rule.delete_()};
    case HttpRule::kPatch:
      return {"PATCH", rule.patch()};
    default:
      return {"", ""};
  }
}

absl::Status AddRule(const MethodDescriptor* method, const HttpRule& rule, std::vector<HttpRoute>* routes) {
  const auto [verb, path] = VerbAndPath(rule);
  if (verb.empty() || !rule.response_body().empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        method->full_name(),
        ": its google.api.http has a custom verb or a response_body; the gateway serves neither"));
  }
  auto parsed = PathTemplate::Parse(path);
  if (!parsed.ok()) return absl::FailedPreconditionError(std::string(parsed.status().message()));
  routes->push_back({verb, *std::move(parsed), rule.body(), method});
  for (const HttpRule& more : rule.additional_bindings()) {
    if (auto status = AddRule(method, more, routes); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<HttpRoutes> HttpRoutes::Make(const std::vector<std::string>& services) {
  HttpRoutes made;
  for (const std::string& name : services) {
    const auto* service = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(name);
    if (service == nullptr) return absl::FailedPreconditionError(absl::StrCat("no service ", name));
    for (int i = 0; i < service->method_count(); ++i) {
      const MethodDescriptor* method = service->method(i);
      if (method->client_streaming() || method->server_streaming()) continue;
      if (!method->options().HasExtension(google::api::http)) continue;
      auto status = AddRule(method, method->options().GetExtension(google::api::http), &made.routes_);
      if (!status.ok()) return status;
    }
  }
  std::stable_sort(made.routes_.begin(), made.routes_.end(), [](const HttpRoute& a, const HttpRoute& b) {
    return a.path.specificity() > b.path.specificity();
  });
  return made;
}

HttpMatch HttpRoutes::Find(std::string_view verb, std::string_view path) const {
  HttpMatch match;
  for (const HttpRoute& route : routes_) {
    auto variables = route.path.Match(path);
    if (!variables) continue;
    if (route.verb == verb) return {&route, *std::move(variables), {}};
    if (std::find(match.allowed.begin(), match.allowed.end(), route.verb) == match.allowed.end()) {
      match.allowed.push_back(route.verb);
    }
  }
  return match;
}

}  // namespace waymark
