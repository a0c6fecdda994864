// Reads JSON beside the message that it shall become, before protobuf does, for what protobuf would
// get wrong without a word, or say in words of its own:
//  - whole numbers beyond 2^53 in free-form fields (google.protobuf.Struct) would lose digits: refused;
//  - names that the message does not have, with their path;
//  - keys that stand twice, of which protobuf takes the last: refused;
//  - values of a wrong kind, such as a list for an object;
//  - field masks: protobuf turns "unitPrice" into "unit_price", but masks here name the operator's own
//    fields, so they are taken as written.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

namespace waymark {

// A field mask of the text: where it stands in the message, and its paths as written.
struct WrittenMask {
  struct Step {
    const google::protobuf::FieldDescriptor* field = nullptr;
    int index = -1;  // of a repeated field
  };
  std::vector<Step> place;
  std::vector<std::string> paths;
};

// INVALID_ARGUMENT names the path of what is wrong («items[3].fields.barcode: ...»), or «body» for text that
// is no JSON.
absl::StatusOr<std::vector<WrittenMask>> CheckJson(std::string_view json,
                                                   const google::protobuf::Descriptor& message);

// Puts the masks where they stood.
void ApplyMasks(const std::vector<WrittenMask>& masks, google::protobuf::Message* message);

}  // namespace waymark
