// The operator's own fields (google.protobuf.Struct): what is taken, how an update applies, what differs.
//
//   ApplyPaths(update.fields, update.paths, record.mutable_fields());
//   for (const std::string& name : ChangedFields(before, after)) ...
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/struct.pb.h"

namespace waymark {

inline constexpr int kMaxFieldDepth = 32;
inline constexpr size_t kMaxRecordBytes = 1 << 20;
// Doubles hold every whole number up to here; JSON numbers beyond are refused, because they would change.
inline constexpr double kMaxWholeNumber = 9007199254740992.0;

// INVALID_ARGUMENT names the field by its path below `name`: numbers that are not finite or whole beyond
// 2^53, nesting beyond kMaxFieldDepth, text that is not UTF-8, empty names, more than kMaxRecordBytes.
absl::Status CheckFields(const std::string& name, const google::protobuf::Struct& fields);

bool SameValue(const google::protobuf::Value& a, const google::protobuf::Value& b);
// Top-level names whose value differs, or that only one of them has; sorted.
std::vector<std::string> ChangedFields(const google::protobuf::Struct& before,
                                       const google::protobuf::Struct& after);
// Sets each of `paths` (all of `from` when empty) in `to` as `from` has it; a path that `from` lacks is
// removed. A path with dots that is no name in either leads into objects: "size.width". Objects on the way
// are made; what is no object there gives way to one.
void ApplyPaths(const google::protobuf::Struct& from, const std::vector<std::string>& paths,
                google::protobuf::Struct* to);

}  // namespace waymark
