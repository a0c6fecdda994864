#include "serving/http/origin_rule.h"

#include <algorithm>

namespace waymark {

OriginVerdict CheckOrigin(const std::string& origin, const std::string& host,
                          const std::vector<std::string>& allowed) {
  if (origin.empty()) return OriginVerdict::kSame;
  if (!host.empty() && (origin == "http://" + host || origin == "https://" + host))
    return OriginVerdict::kSame;
  const bool listed = std::any_of(allowed.begin(), allowed.end(),
                                  [&](const std::string& one) { return one == "*" || one == origin; });
  return listed ? OriginVerdict::kAllowed : OriginVerdict::kRefused;
}

}  // namespace waymark
