// One JSON document a line on standard error: time, level, event, then the event's own keys.
//
//   log.Info("started", {{"grpc", "127.0.0.1:7700"}});
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace spdlog {
class logger;
}

namespace waymark {

// Thread-safe.
class ServerLog {
 public:
  // `level`: debug (every call), info, warn, error, off.
  explicit ServerLog(const std::string& level);
  void Debug(std::string_view event, nlohmann::ordered_json values) const;
  void Info(std::string_view event, nlohmann::ordered_json values) const;
  void Warn(std::string_view event, nlohmann::ordered_json values) const;
  void Error(std::string_view event, nlohmann::ordered_json values) const;
  bool debug() const;

 private:
  std::shared_ptr<spdlog::logger> logger_;
};

// Everything that other parts of the program log becomes lines of that form too: «name key=value key="text"»
// an event of that name with those keys, anything else the event "message".
// For a process that is a server: the program's default logger is replaced.
void LogProgramAsJson(const std::string& level);

}  // namespace waymark
