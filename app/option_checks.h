// Checks of option values whose errors say what the option takes. CLI11's own name the whole range of a
// double, which is over 300 digits long.
//
//   command->add_option("--timeout", seconds)->check(OverZero());
#pragma once
#include <CLI/CLI.hpp>

namespace waymark {

CLI::Validator OverZero();           // a number over 0
CLI::Validator ZeroOrMore();         // a number of 0 or more
CLI::Validator BetweenZeroAndOne();  // neither included

}  // namespace waymark
