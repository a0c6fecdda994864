#include "serving/http/path_template.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

absl::Status Wrong(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("path template '", std::string(text), "': ", std::string(why)));
}

// -1: no hexadecimal digit.
int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = absl::ascii_tolower(static_cast<unsigned char>(c));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      const int high = i + 1 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return decoded;
}

absl::Status PathTemplate::AddPattern(std::string_view pattern) {
  for (std::string_view part : Split(pattern, '/')) {
    if (part.empty()) return Wrong(text_, "has an empty segment");
    if (!segments_.empty() && segments_.back().kind == Kind::kRest)
      return Wrong(text_, "has a segment after **");
    if (part == "*") {
      segments_.push_back({Kind::kOne, ""});
    } else if (part == "**") {
      segments_.push_back({Kind::kRest, ""});
    } else {
      segments_.push_back({Kind::kLiteral, std::string(part)});
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PathTemplate> PathTemplate::Parse(std::string_view text) {
  PathTemplate made;
  made.text_ = std::string(text);
  if (!text.starts_with('/')) return Wrong(text, "does not begin with /");
  text.remove_prefix(1);
  // A colon inside of braces belongs to nothing that we know; the verb's comes after the last brace.
  const size_t colon = text.rfind(':');
  const size_t brace = text.rfind('}');
  if (colon != std::string_view::npos && (brace == std::string_view::npos || colon > brace)) {
    made.verb_ = std::string(text.substr(colon + 1));
    if (made.verb_.empty()) return Wrong(made.text_, "has an empty verb");
    text = text.substr(0, colon);
  }
  while (!text.empty()) {
    if (text.front() == '/') text.remove_prefix(1);
    if (!text.starts_with('{')) {
      const size_t end = std::min(text.find('/'), text.size());
      if (auto status = made.AddPattern(text.substr(0, end)); !status.ok()) return status;
      text.remove_prefix(end);
      continue;
    }
    const size_t end = text.find('}');
    if (end == std::string_view::npos) return Wrong(made.text_, "has a { without }");
    const std::string_view inside = text.substr(1, end - 1);
    const size_t equals = inside.find('=');
    Variable variable{std::string(inside.substr(0, equals)), made.segments_.size(), 0};
    if (variable.field.empty()) return Wrong(made.text_, "has a variable without a name");
    const std::string_view pattern = equals == std::string_view::npos ? "*" : inside.substr(equals + 1);
    if (auto status = made.AddPattern(pattern); !status.ok()) return status;
    variable.end = made.segments_.size();
    made.variables_.push_back(std::move(variable));
    text.remove_prefix(end + 1);
    if (!text.empty() && text.front() != '/') return Wrong(made.text_, "goes on after } without /");
  }
  if (made.segments_.empty()) return Wrong(made.text_, "is empty");
  return made;
}

std::optional<PathVariables> PathTemplate::Match(std::string_view path) const {
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  if (!verb_.empty()) {
    if (path.size() <= verb_.size() || !path.ends_with(verb_) ||
        path[path.size() - verb_.size() - 1] != ':') {
      return std::nullopt;
    }
    path.remove_suffix(verb_.size() + 1);
  }
  const std::vector<std::string_view> parts = Split(path, '/');
  const bool open = segments_.back().kind == Kind::kRest;
  if (open ? parts.size() < segments_.size() : parts.size() != segments_.size()) return std::nullopt;
  std::vector<std::string> values(segments_.size());
  for (size_t i = 0; i < segments_.size(); ++i) {
    const bool rest = segments_[i].kind == Kind::kRest;
    const size_t start = static_cast<size_t>(parts[i].data() - path.data());
    auto value = PercentDecode(rest ? path.substr(start) : parts[i], /*plus_is_space=*/false);
    if (!value || value->empty()) return std::nullopt;
    if (segments_[i].kind == Kind::kLiteral && *value != segments_[i].literal) return std::nullopt;
    values[i] = *std::move(value);
  }
  PathVariables variables;
  for (const Variable& variable : variables_) {
    std::string value = values[variable.begin];
    for (size_t i = variable.begin + 1; i < variable.end; ++i) absl::StrAppend(&value, "/", values[i]);
    variables.emplace_back(variable.field, std::move(value));
  }
  return variables;
}

int PathTemplate::specificity() const {
  const auto literals = std::count_if(segments_.begin(), segments_.end(),
                                      [](const Segment& segment) { return segment.kind == Kind::kLiteral; });
  const bool open = segments_.back().kind == Kind::kRest;
  return (verb_.empty() ? 0 : 1000) + static_cast<int>(literals) * 2 + (open ? 0 : 1);
}

}  // namespace waymark
