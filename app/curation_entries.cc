#include "app/curation_entries.h"

#include <google/protobuf/util/json_util.h>

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace waymark {
namespace {

absl::Status ReadJson(std::string_view text, google::protobuf::Message* message) {
  const auto status = google::protobuf::util::JsonStringToMessage(std::string(text), message);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("is no ", message->GetDescriptor()->name(), " in JSON: ", std::string(status.message())));
}

absl::StatusOr<std::string> JsonLine(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string line;
  const auto status = google::protobuf::util::MessageToJsonString(message, &line, options);
  if (!status.ok()) return absl::InternalError(std::string(status.message()));
  return line;
}

template <class Message>
void ClearOutputs(Message* message) {
  message->clear_name();
  message->clear_revision();
  message->clear_create_time();
  message->clear_update_time();
}

absl::Status AddAll(absl::string_view list, google::protobuf::RepeatedPtrField<std::string>* to) {
  for (absl::string_view part : absl::StrSplit(list, ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) return absl::InvalidArgumentError("has an empty place between commas");
    *to->Add() = std::string(part);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::Synonym> ReadSynonym(std::string_view given) {
  const absl::string_view text = absl::StripAsciiWhitespace(absl::string_view(given.data(), given.size()));
  v1::Synonym synonym;
  if (!text.empty() && text[0] == '{') {
    if (auto status = ReadJson(std::string(text), &synonym); !status.ok()) return status;
    return synonym;
  }
  const std::vector<absl::string_view> sides = absl::StrSplit(text, "=>");
  absl::Status status = absl::OkStatus();
  if (sides.size() > 2) {
    status = absl::InvalidArgumentError("has more than one «=>»");
  } else if (sides.size() == 2) {
    status.Update(AddAll(sides[0], synonym.mutable_from()));
    status.Update(AddAll(sides[1], synonym.mutable_to()));
  } else {
    status = AddAll(text, synonym.mutable_words());
  }
  if (!status.ok()) return status;
  return synonym;
}

absl::StatusOr<v1::Rule> ReadRule(std::string_view text) {
  v1::Rule rule;
  if (auto status = ReadJson(text, &rule); !status.ok()) return status;
  return rule;
}

absl::StatusOr<std::string> EntryLine(v1::Synonym synonym) {
  ClearOutputs(&synonym);
  return JsonLine(synonym);
}

absl::StatusOr<std::string> EntryLine(v1::Rule rule) {
  ClearOutputs(&rule);
  return JsonLine(rule);
}

}  // namespace waymark
