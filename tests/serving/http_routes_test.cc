#include "serving/http/http_routes.h"

#include "google/api/annotations.pb.h"
#include "serving/service_names.h"
#include "tests/support/catch.h"

using namespace waymark;
using google::protobuf::DescriptorPool;

namespace {

std::vector<std::string> AllServices() {
  std::vector<std::string> names = PublicServiceNames();
  names.push_back(AdminServiceName());
  return names;
}

// A path that the template takes: every variable and wildcard filled in.
std::string Sample(std::string pattern) {
  std::string path;
  while (!pattern.empty()) {
    const size_t open = pattern.find('{');
    path += pattern.substr(0, open);
    if (open == std::string::npos) break;
    const size_t close = pattern.find('}', open);
    const std::string inside = pattern.substr(open + 1, close - open - 1);
    const size_t equals = inside.find('=');
    path += equals == std::string::npos ? "one" : inside.substr(equals + 1);
    pattern = pattern.substr(close + 1);
  }
  for (size_t at; (at = path.find("**")) != std::string::npos;) path.replace(at, 2, "x/y:z");
  for (size_t at; (at = path.find('*')) != std::string::npos;) path.replace(at, 1, "one");
  return path;
}

void CheckRule(const HttpRoutes& routes, const google::protobuf::MethodDescriptor* method,
               const google::api::HttpRule& rule) {
  const std::pair<std::string, std::string> binding =
      !rule.get().empty()       ? std::pair<std::string, std::string>("GET", rule.get())
      : !rule.post().empty()    ? std::pair<std::string, std::string>("POST", rule.post())
      : !rule.delete_().empty() ? std::pair<std::string, std::string>("DELETE", rule.delete_())
      : !rule.patch().empty()   ? std::pair<std::string, std::string>("PATCH", rule.patch())
                                : std::pair<std::string, std::string>("PUT", rule.put());
  const std::string path = Sample(binding.second);
  INFO(binding.first << " " << path);
  const HttpMatch match = routes.Find(binding.first, path);
  REQUIRE(match.route != nullptr);
  CHECK(match.route->method->full_name() == method->full_name());
  for (const auto& [field, value] : match.variables) {
    CHECK(method->input_type()->FindFieldByName(field) != nullptr);
    CHECK_FALSE(value.empty());
  }
  for (const auto& more : rule.additional_bindings()) CheckRule(routes, method, more);
}

}  // namespace

TEST_CASE("Every unary method has HTTP bindings, and each of them leads to it") {
  auto routes = HttpRoutes::Make(AllServices());
  REQUIRE(routes.ok());
  int methods = 0;
  for (const std::string& name : AllServices()) {
    const auto* service = DescriptorPool::generated_pool()->FindServiceByName(name);
    REQUIRE(service != nullptr);
    for (int i = 0; i < service->method_count(); ++i) {
      const auto* method = service->method(i);
      const bool streams = method->client_streaming() || method->server_streaming();
      INFO(method->full_name());
      CHECK(method->options().HasExtension(google::api::http) == !streams);
      if (streams) continue;
      ++methods;
      CheckRule(*routes, method, method->options().GetExtension(google::api::http));
    }
  }
  // Counted in proto/waymark/v1: catalog 10, user 6, event 2, search 2, recommend and rank 1 each, model 3,
  // release 5, experiment 10, curation 10, admin 4.
  CHECK(methods == 67);
}

TEST_CASE("A path that is known for another HTTP method says which it takes") {
  auto routes = HttpRoutes::Make(PublicServiceNames());
  REQUIRE(routes.ok());
  const HttpMatch match = routes->Find("PUT", "/v1/search");
  CHECK(match.route == nullptr);
  CHECK(match.allowed == std::vector<std::string>{"POST", "GET"});
  CHECK(routes->Find("GET", "/v1/nothing").allowed.empty());
}

TEST_CASE("Admin methods are served only where they are asked for") {
  auto routes = HttpRoutes::Make(PublicServiceNames());
  REQUIRE(routes.ok());
  CHECK(routes->Find("GET", "/v1/status").route == nullptr);
}
