// What --json prints: one document on standard output.
#pragma once
#include <string>

#include "google/protobuf/message.h"

namespace waymark {

// Protobuf's JSON form, as the HTTP API answers it, indented; every field is there, also when it is empty.
int PrintJson(const google::protobuf::Message& message);

// Text that is JSON already.
int PrintJson(const std::string& text);

}  // namespace waymark
