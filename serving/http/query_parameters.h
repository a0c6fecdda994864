// Query parameters of a URL into a message: a.b names a field of a field, a repeated name adds to a list.
//
//   SetField(&request, "page_size", "10");
//   SetField(&request, "exclude_seen.types", "purchase");
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

namespace waymark {

using QueryParameters = std::vector<std::pair<std::string, std::string>>;

// "a=1&b=x+y". INVALID_ARGUMENT: not percent-encoded properly, or more than 1,000.
absl::StatusOr<QueryParameters> ParseQuery(std::string_view query);

// INVALID_ARGUMENT names the field: unknown, a value of another type, a second value for what is no list,
// a field that has no text form (maps, messages, free-form fields). Both spellings of names are taken.
absl::Status SetField(google::protobuf::Message* message, const std::string& field_path,
                      const std::string& value);

}  // namespace waymark
