#include "app/decision_options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace waymark {

void AddByOption(CLI::App* command, std::string* by) {
  command->add_option("--by", *by, "who decides (else $USER); recorded")->type_name("NAME");
}

std::string WhoDecides(const std::string& by) {
  if (!by.empty()) return by;
  const char* user = std::getenv("USER");
  return user != nullptr && *user != '\0' ? user : "operator";
}

}  // namespace waymark
