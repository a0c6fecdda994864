#include "app/option_checks.h"

#include <cmath>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

CLI::Validator Number(bool zero_too, const std::string& takes) {
  return CLI::Validator(
      [zero_too, takes](std::string& text) -> std::string {
        double number = 0;
        const bool fits = absl::SimpleAtod(text, &number) && std::isfinite(number) &&
                          (number > 0 || (zero_too && number == 0));
        return fits ? "" : absl::StrCat("is '", text, "'; it takes ", takes);
      },
      "");
}

}  // namespace

CLI::Validator OverZero() { return Number(false, "a number over 0"); }
CLI::Validator ZeroOrMore() { return Number(true, "0 or more"); }

}  // namespace waymark
