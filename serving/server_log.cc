#include "serving/server_log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <mutex>
#include <optional>
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

// Events of the folders below: «release_not_loaded collection=a/b reason="no such file"». A quoted value may
// hold quotes: it ends where the next key begins. Null: free text.
std::optional<std::pair<std::string, nlohmann::ordered_json>> ReadEvent(const std::string& text) {
  const auto is_word = [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 ||
           std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  const auto word_end = [&](size_t at) {
    while (at < text.size() && is_word(text[at])) ++at;
    return at;
  };
  const auto key_begins = [&](size_t at) {  // at a space, or at the end
    if (at == text.size()) return true;
    const size_t end = word_end(at + 1);
    return text[at] == ' ' && end > at + 1 && end < text.size() && text[end] == '=';
  };
  size_t at = word_end(0);
  if (at == 0 || at == text.size() || !key_begins(at)) return std::nullopt;
  std::pair<std::string, nlohmann::ordered_json> event(text.substr(0, at), nlohmann::ordered_json::object());
  while (at < text.size()) {
    const size_t equals = text.find('=', at);
    const std::string key = text.substr(at + 1, equals - at - 1);
    const bool quoted = equals + 1 < text.size() && text[equals + 1] == '"';
    const size_t begin = equals + (quoted ? 2 : 1);
    size_t end = begin;
    while (end < text.size() && !(quoted ? text[end] == '"' && key_begins(end + 1) : key_begins(end))) ++end;
    event.second[key] = text.substr(begin, end - begin);
    at = std::min(text.size(), end + (quoted ? 1 : 0));
  }
  return event;
}

// What other parts of the program log, as a JSON line.
class JsonSink : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string text(message.payload.data(), message.payload.size());
    auto event = ReadEvent(text);
    const std::string line = (event ? Line(message.level, event->first, std::move(event->second))
                                    : Line(message.level, "message", {{"message", text}})) +
                             "\n";
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
