#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <clocale>

#include "app/command_line.h"

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // widths of characters in tables
  // Standard output holds results alone.
  auto logger = spdlog::stderr_logger_mt("waymark");
  logger->set_level(spdlog::level::warn);
  spdlog::set_default_logger(logger);
  return waymark::RunCommandLine(argc, argv);
}
