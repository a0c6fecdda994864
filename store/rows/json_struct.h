// JSON objects to protobuf's Struct and back, without losing anything on the way.
//
// A Struct holds each number as a double. A whole number beyond 2^53 would come back as another one, so it is
// refused by the name of its field; the remedy is to write it as text. Doubled keys, NaN, numbers too large
// for a double and deep nesting are refused too.
//
//   google::protobuf::Struct fields;
//   absl::Status status = ParseJsonObject(R"({"id":"m1","year":1995})", &fields);
//   std::string text = JsonText(fields);   // keys in order of their bytes, so that equal objects print
//   equally
#pragma once
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/struct.pb.h"

namespace waymark {

inline constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53
// Protobuf reads records back to 100 levels, and each object or array of a Struct takes three.
inline constexpr int kMaxJsonDepth = 30;

// INVALID_ARGUMENT names the column, or the field as `a.b[2]`.
absl::Status ParseJsonObject(absl::string_view text, google::protobuf::Struct* out);
absl::Status ParseJsonValue(absl::string_view text, google::protobuf::Value* out);

// One line. Whole numbers up to 2^53 print as such (1995, not 1995.0), others in the shortest form that reads
// back to the same double.
std::string JsonText(const google::protobuf::Struct& object);
void AppendJson(const google::protobuf::Value& value, std::string* out);
void AppendJson(absl::string_view text, std::string* out);
void AppendJson(double number, std::string* out);

}  // namespace waymark
