#include "app/json_output.h"

#include <google/protobuf/util/json_util.h>

#include <cstdio>

#include "app/exit.h"

namespace waymark {

int PrintJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;  // as the HTTP API has them
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  if (!status.ok()) return Fail(absl::InternalError(std::string(status.message())));
  return PrintJson(text);
}

int PrintJson(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (text.empty() || text.back() != '\n') std::fputc('\n', stdout);
  if (std::fflush(stdout) != 0) return Fail(absl::UnavailableError("cannot write to standard output"));
  return kDone;
}

}  // namespace waymark
