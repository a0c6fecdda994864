#include "serving/server_log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <mutex>
#include <utility>

#include "absl/time/clock.h"

namespace waymark {
namespace {

std::string Line(spdlog::level::level_enum level, std::string_view event, nlohmann::ordered_json values) {
  nlohmann::ordered_json line;
  line["time"] = absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone());
  line["level"] = spdlog::level::to_string_view(level).data();
  line["event"] = event;
  for (auto& [key, value] : values.items()) line[key] = std::move(value);
  // What clients sent may not be UTF-8: it is replaced, not thrown about.
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// Free text, as a JSON line.
class JsonSink : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string text(message.payload.data(), message.payload.size());
    const std::string line = Line(message.level, "message", {{"message", text}}) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
  void flush_() override { std::fflush(stderr); }
};

void Write(spdlog::logger& logger, spdlog::level::level_enum level, std::string_view event,
           nlohmann::ordered_json values) {
  if (!logger.should_log(level)) return;
  logger.log(level, "{}", Line(level, event, std::move(values)));
}

}  // namespace

ServerLog::ServerLog(const std::string& level)
    : logger_(
          std::make_shared<spdlog::logger>("waymark", std::make_shared<spdlog::sinks::stderr_sink_mt>())) {
  logger_->set_pattern("%v");
  logger_->set_level(spdlog::level::from_str(level));
}

void ServerLog::Debug(std::string_view event, nlohmann::ordered_json values) const {
  Write(*logger_, spdlog::level::debug, event, std::move(values));
}
void ServerLog::Info(std::string_view event, nlohmann::ordered_json values) const {
  Write(*logger_, spdlog::level::info, event, std::move(values));
}
void ServerLog::Warn(std::string_view event, nlohmann::ordered_json values) const {
  Write(*logger_, spdlog::level::warn, event, std::move(values));
}
void ServerLog::Error(std::string_view event, nlohmann::ordered_json values) const {
  Write(*logger_, spdlog::level::err, event, std::move(values));
}
void LogProgramAsJson(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>("program", std::make_shared<JsonSink>());
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
}
bool ServerLog::debug() const { return logger_->should_log(spdlog::level::debug); }

}  // namespace waymark
