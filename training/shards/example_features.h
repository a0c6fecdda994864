// The features of a record that is a tf.train.Example on the wire, by name.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {

// Maps have no order of their own: the same example is the same bytes.
std::string PrintExample(const storage::Example& example);
// Adds the feature.
google::protobuf::RepeatedField<int64_t>* NumbersOf(storage::Example* example, const char* name);
google::protobuf::RepeatedField<float>* RealsOf(storage::Example* example, const char* name);

// Null: there is none.
const storage::Feature* FindFeature(const storage::Example& example, const char* name);
// DATA_LOSS that names the feature.
absl::Status WrongFeature(const char* name, std::string_view what);
absl::Status ReadNumbers(const storage::Example& example, const char* name, std::vector<int64_t>* out);
absl::Status ReadNumber(const storage::Example& example, const char* name, int64_t* out);
absl::Status ReadReals(const storage::Example& example, const char* name, std::vector<float>* out);

}  // namespace waymark
