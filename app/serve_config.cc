#include "app/serve_config.h"

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace waymark {
namespace {

using Json = nlohmann::json;
// Answers what the key takes when the value is something else; empty when it was taken.
using Setter = std::function<std::string(const Json&)>;

Setter Text(std::string* out) {
  return [out](const Json& value) -> std::string {
    if (!value.is_string()) return "text";
    *out = value.get<std::string>();
    return "";
  };
}

Setter Flag(bool* out) {
  return [out](const Json& value) -> std::string {
    if (!value.is_boolean()) return "true or false";
    *out = value.get<bool>();
    return "";
  };
}

template <class Number>
Setter Whole(Number* out, int64_t least, int64_t most) {
  return [out, least, most](const Json& value) -> std::string {
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX) &&
                      value.get<int64_t>() >= least && value.get<int64_t>() <= most;
    if (!fits) return absl::StrCat("a whole number from ", least, " to ", most);
    *out = static_cast<Number>(value.get<int64_t>());
    return "";
  };
}

Setter Share(double* out) {
  return [out](const Json& value) -> std::string {
    if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= 1))
      return "a number from 0 to 1";
    *out = value.get<double>();
    return "";
  };
}

Setter Time(absl::Duration* out, absl::Duration unit, int64_t least) {
  return [out, unit, least](const Json& value) -> std::string {
    constexpr double kMost = 1e9;
    if (!value.is_number() ||
        !(value.get<double>() >= static_cast<double>(least) && value.get<double>() <= kMost)) {
      return absl::StrCat("a number from ", least);
    }
    *out = value.get<double>() * unit;
    return "";
  };
}

Setter Texts(std::vector<std::string>* out) {
  return [out](const Json& value) -> std::string {
    std::vector<std::string> texts;
    if (!value.is_array()) return "a list of texts";
    for (const Json& entry : value) {
      if (!entry.is_string()) return "a list of texts";
      texts.push_back(entry.get<std::string>());
    }
    *out = std::move(texts);
    return "";
  };
}

std::map<std::string, Setter> Keys(ServeConfig* config) {
  EngineOptions& engine = config->engine;
  ServerOptions& server = config->server;
  const absl::Duration ms = absl::Milliseconds(1), s = absl::Seconds(1);
  return {
      {"data", Text(&config->data)},
      {"grpc", Text(&server.grpc_address)},
      {"http", Text(&server.http_address)},
      {"admin", Text(&server.admin_address)},
      {"admin_http", Text(&server.admin_http_address)},
      {"insecure", Flag(&server.insecure)},
      {"worker_threads", Whole(&server.worker_threads, 0, 1024)},
      {"max_concurrent_requests", Whole(&server.max_concurrent_requests, 1, 1000000)},
      {"max_long_calls", Whole(&server.max_long_calls, 1, 10000)},
      {"default_deadline_ms", Time(&server.default_deadline, ms, 1)},
      {"slow_call_ms", Time(&server.slow_call, ms, 0)},
      {"http_threads", Whole(&server.http_threads, 1, 10000)},
      {"cors_origins", Texts(&server.cors_origins)},
      {"log_level", Text(&server.log_level)},
      {"shutdown_grace_s", Time(&config->shutdown_grace, s, 0)},
      {"index_refresh_interval_ms", Time(&engine.index_refresh_interval, ms, 1)},
      {"checkpoint_interval_s", Time(&engine.checkpoint.interval, s, 1)},
      {"checkpoint_changes", Whole(&engine.checkpoint.changes, 1, int64_t{1} << 40)},
      {"served_sample_rate", Share(&engine.served_sample_rate)},
      {"past_query_min_users", Whole(&engine.past_query_min_users, 1, 64)},
      {"model_memory_limit_mb",
       [&engine](const Json& value) {
         int64_t megabytes = 0;
         std::string wanted = Whole(&megabytes, 1, int64_t{1} << 30)(value);
         if (wanted.empty()) engine.model_memory_limit_bytes = static_cast<size_t>(megabytes) << 20;
         return wanted;
       }},
  };
}

}  // namespace

absl::Status ApplyConfig(const std::string& json, ServeConfig* config) {
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/true);
  if (!document.is_object())
    return absl::InvalidArgumentError("it is not a JSON object {\"key\": value, ...}");
  const auto keys = Keys(config);
  for (const auto& [key, value] : document.items()) {
    const auto found = keys.find(key);
    if (found == keys.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "unknown key '", key, "'; it takes ",
          absl::StrJoin(keys, ", ", [](std::string* out, const auto& known) { out->append(known.first); })));
    }
    const std::string wanted = found->second(value);
    if (!wanted.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the key '", key, "' takes ", wanted, ", not ",
                       value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
    }
  }
  return absl::OkStatus();
}

absl::Status ApplyConfigFile(const std::string& path, ServeConfig* config) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read the configuration ", path));
  std::stringstream text;
  text << file.rdbuf();
  auto status = ApplyConfig(text.str(), config);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

}  // namespace waymark
