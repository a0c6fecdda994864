#include "app/option_checks.h"

#include <cmath>
#include <functional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

CLI::Validator Number(const std::function<bool(double)>& may_be, const std::string& takes) {
  return CLI::Validator(
      [may_be, takes](std::string& text) -> std::string {
        double number = 0;
        const bool fits = absl::SimpleAtod(text, &number) && std::isfinite(number) && may_be(number);
        return fits ? "" : absl::StrCat("is '", text, "'; it takes ", takes);
      },
      "");
}

}  // namespace

CLI::Validator OverZero() {
  return Number([](double x) { return x > 0; }, "a number over 0");
}
CLI::Validator ZeroOrMore() {
  return Number([](double x) { return x >= 0; }, "0 or more");
}
CLI::Validator BetweenZeroAndOne() {
  return Number([](double x) { return x > 0 && x < 1; }, "a number between 0 and 1");
}

}  // namespace waymark
