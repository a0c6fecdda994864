// Which web pages may call us from a browser. By default only those that this server itself delivered: a
// page of another origin could otherwise write to a server on the visitor's own machine.
//
//   CheckOrigin("http://shop.example", "127.0.0.1:7780", {});  // kRefused
#pragma once
#include <string>
#include <vector>

namespace waymark {

enum class OriginVerdict {
  kSame,     // no browser, or a page of our own: no CORS headers needed
  kAllowed,  // a listed origin: answer with CORS headers
  kRefused,
};

// `origin`, `host`: the headers of the request, empty when absent. `allowed`: origins as browsers write them
// ("https://shop.example"), or "*" for all.
OriginVerdict CheckOrigin(const std::string& origin, const std::string& host,
                          const std::vector<std::string>& allowed);

}  // namespace waymark
