#include "serving/service_names.h"

namespace waymark {

std::vector<std::string> PublicServiceNames() {
  std::vector<std::string> names;
  for (const char* service :
       {"Catalog", "User", "Event", "Search", "Recommend", "Rank", "Model", "Release"}) {
    names.push_back(std::string("waymark.v1.") + service + "Service");
  }
  return names;
}

}  // namespace waymark
