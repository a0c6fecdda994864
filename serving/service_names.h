// The services of the API by full name, as ports, health and the HTTP gateway name them.
#pragma once
#include <string>
#include <vector>

namespace waymark {

// Those of the public port.
std::vector<std::string> PublicServiceNames();
std::string AdminServiceName();

}  // namespace waymark
