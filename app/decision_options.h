// Who decides what others see: recorded with each decision.
#pragma once
#include <string>

namespace CLI {
class App;
}

namespace waymark {

void AddByOption(CLI::App* command, std::string* by);
// `by`, else $USER, else «operator».
std::string WhoDecides(const std::string& by);

}  // namespace waymark
