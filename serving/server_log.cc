#include "serving/server_log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "absl/time/clock.h"

namespace waymark {
namespace {

void Write(spdlog::logger& logger, spdlog::level::level_enum level, std::string_view event,
           nlohmann::ordered_json values) {
  if (!logger.should_log(level)) return;
  nlohmann::ordered_json line;
  line["time"] = absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone());
  line["level"] = spdlog::level::to_string_view(level).data();
  line["event"] = event;
  for (auto& [key, value] : values.items()) line[key] = std::move(value);
  // What clients sent may not be UTF-8: it is replaced, not thrown about.
  logger.log(level, "{}", line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
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
bool ServerLog::debug() const { return logger_->should_log(spdlog::level::debug); }

}  // namespace waymark
