#include "serving/http/path_template.h"

#include "tests/support/catch.h"

using namespace waymark;

namespace {

// Variables as "field=value;", "no" for no match.
std::string Match(const std::string& pattern, const std::string& path) {
  auto parsed = PathTemplate::Parse(pattern);
  if (!parsed.ok()) return std::string(parsed.status().message());
  const auto variables = parsed->Match(path);
  if (!variables) return "no";
  std::string text;
  for (const auto& [field, value] : *variables) text += field + "=" + value + ";";
  return text;
}

}  // namespace

TEST_CASE("Path templates match as google.api.http says") {
  struct Row {
    const char *pattern, *path, *want;
  };
  const Row rows[] = {
      {"/v1/search", "/v1/search", ""},
      {"/v1/search", "/v1/search/", "no"},
      {"/v1/search", "/v1/searches", "no"},
      {"/v1/search", "/v2/search", "no"},
      {"/v1/items/{id}", "/v1/items/m1", "id=m1;"},
      {"/v1/items/{id}", "/v1/items/a%2Fb", "id=a/b;"},
      {"/v1/items/{id}", "/v1/items/a/b", "no"},
      {"/v1/items/{id}", "/v1/items/", "no"},
      {"/v1/items/{id}", "/v1/items/a+b%20c", "id=a+b c;"},
      {"/v1/items/{id}", "/v1/items/100%", "no"},
      {"/v1/items/{id}", "/v1/items/%4", "no"},
      {"/v1/items/{id}", "/v1/items/%zz", "no"},
      {"/v1/items/{id}", "/v1/items/a:b", "id=a:b;"},
      {"/v1/{name=items/**}", "/v1/items/a/b/c", "name=items/a/b/c;"},
      {"/v1/{name=items/**}", "/v1/items/a", "name=items/a;"},
      {"/v1/{name=items/**}", "/v1/items", "no"},
      {"/v1/{name=items/**}", "/v1/items/", "no"},
      {"/v1/{name=items/**}", "/v1/items/a%252Fb", "name=items/a%2Fb;"},
      {"/v1/{name=items/**}", "/v1/items/a%2Fb", "name=items/a/b;"},
      {"/v1/{name=tenants/*/collections/*/items/**}", "/v1/tenants/t/collections/c/items/x/y",
       "name=tenants/t/collections/c/items/x/y;"},
      {"/v1/{parent=tenants/*/collections/*}/items:put", "/v1/tenants/t/collections/c/items:put",
       "parent=tenants/t/collections/c;"},
      {"/v1/{parent=tenants/*/collections/*}/items:put", "/v1/tenants/t/collections/c/items", "no"},
      {"/v1/{parent=tenants/*/collections/*}/items:put", "/v1/tenants/t/collections/c/items:puts", "no"},
      {"/v1/{parent=tenants/*/collections/*}:search", "/v1/tenants/t/collections/c:search",
       "parent=tenants/t/collections/c;"},
      {"/v1/models/{kind}/versions/{version}:verify", "/v1/models/ranker/versions/v1:verify",
       "kind=ranker;version=v1;"},
      {"/v1/models/{kind}/versions/{version}", "/v1/models/ranker/versions/v1", "kind=ranker;version=v1;"},
      {"/v1/*/x", "/v1/anything/x", ""},
  };
  for (const Row& row : rows) {
    INFO(row.pattern << " <- " << row.path);
    CHECK(Match(row.pattern, row.path) == row.want);
  }
}

TEST_CASE("Templates that make no sense are refused") {
  for (const char* text : {"", "v1/x", "/v1/{", "/v1/{}", "/v1/{a=**}/b", "/v1//x", "/v1/x:", "/v1/{a}b"}) {
    INFO(text);
    CHECK_FALSE(PathTemplate::Parse(text).ok());
  }
}

TEST_CASE("Percent-decoding tells plus from space and refuses halves") {
  CHECK(PercentDecode("a+b%2Bc", true) == "a b+c");
  CHECK(PercentDecode("a+b%2bc", false) == "a+b+c");
  CHECK(PercentDecode("%E2%82%AC", false) == "€");
  CHECK_FALSE(PercentDecode("%", false).has_value());
  CHECK_FALSE(PercentDecode("%a", false).has_value());
  CHECK_FALSE(PercentDecode("%g0", false).has_value());
}
