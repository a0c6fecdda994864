#include "tests/catalog/movies.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/skip.h"

namespace waymark::tests {
namespace {

google::protobuf::Value ValueOf(const nlohmann::json& json) {
  google::protobuf::Value value;
  if (json.is_string()) {
    value.set_string_value(json.get<std::string>());
  } else if (json.is_number()) {
    value.set_number_value(json.get<double>());
  } else if (json.is_boolean()) {
    value.set_bool_value(json.get<bool>());
  } else if (json.is_array()) {
    value.mutable_list_value();
    for (const nlohmann::json& element : json) *value.mutable_list_value()->add_values() = ValueOf(element);
  } else {
    value.set_null_value(google::protobuf::NULL_VALUE);
  }
  return value;
}

}  // namespace

void ForEachWikipediaMovie(const std::function<void(const google::protobuf::Struct& fields)>& visit) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SharedData() / "wikipedia-movies")) {
    if (entry.path().filename().string().rfind("movies-", 0) == 0) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file);
    for (const nlohmann::json& movie : nlohmann::json::parse(in)) {
      google::protobuf::Struct fields;
      for (const auto& [name, value] : movie.items()) (*fields.mutable_fields())[name] = ValueOf(value);
      visit(fields);
    }
  }
}

}  // namespace waymark::tests
