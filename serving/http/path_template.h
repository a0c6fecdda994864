// A path template of google.api.http: literals, * (one segment), ** (the rest), variables {field} and
// {field=pattern}, and a verb after the last colon. The grammar is that of google/api/http.proto.
//
//   auto template = PathTemplate::Parse("/v1/{parent=tenants/*/collections/*}/items:put");
//   template->Match("/v1/tenants/a/collections/b/items:put");  // {{"parent", "tenants/a/collections/b"}}
//
// Paths are matched as they come, then percent-decoded. Unlike there, %2F inside ** is decoded too: an id is
// the rest of the path, so a/b and a%2Fb are the same id.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace waymark {

using PathVariables = std::vector<std::pair<std::string, std::string>>;  // field path, value

class PathTemplate {
 public:
  static absl::StatusOr<PathTemplate> Parse(std::string_view text);
  // None: another path, or one that is not percent-encoded properly.
  std::optional<PathVariables> Match(std::string_view path) const;
  // More is tried first: a verb, then more literals, then no **.
  int specificity() const;
  const std::string& text() const { return text_; }

 private:
  enum class Kind { kLiteral, kOne, kRest };
  struct Segment {
    Kind kind = Kind::kLiteral;
    std::string literal;
  };
  struct Variable {
    std::string field;
    size_t begin = 0, end = 0;  // its segments
  };
  absl::Status AddPattern(std::string_view pattern);
  std::string text_;
  std::vector<Segment> segments_;
  std::vector<Variable> variables_;
  std::string verb_;
};

// None: a % that two hexadecimal digits do not follow.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space);

}  // namespace waymark
