#include "training/shards/example_features.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "absl/strings/str_cat.h"

namespace waymark {

std::string PrintExample(const storage::Example& example) {
  std::string out;
  {
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    example.SerializeToCodedStream(&coded);
  }
  return out;
}

google::protobuf::RepeatedField<int64_t>* NumbersOf(storage::Example* example, const char* name) {
  return (*example->mutable_features()->mutable_feature())[name].mutable_int64_list()->mutable_value();
}

google::protobuf::RepeatedField<float>* RealsOf(storage::Example* example, const char* name) {
  return (*example->mutable_features()->mutable_feature())[name].mutable_float_list()->mutable_value();
}

const storage::Feature* FindFeature(const storage::Example& example, const char* name) {
  const auto found = example.features().feature().find(name);
  return found == example.features().feature().end() ? nullptr : &found->second;
}

absl::Status WrongFeature(const char* name, std::string_view what) {
  return absl::DataLossError(absl::StrCat("the feature '", name, "' ", std::string(what)));
}

absl::Status ReadNumbers(const storage::Example& example, const char* name, std::vector<int64_t>* out) {
  const storage::Feature* feature = FindFeature(example, name);
  if (feature == nullptr) return WrongFeature(name, "is missing");
  if (!feature->has_int64_list()) return WrongFeature(name, "is no int64 list");
  out->assign(feature->int64_list().value().begin(), feature->int64_list().value().end());
  return absl::OkStatus();
}

absl::Status ReadNumber(const storage::Example& example, const char* name, int64_t* out) {
  std::vector<int64_t> values;
  absl::Status status = ReadNumbers(example, name, &values);
  if (!status.ok()) return status;
  if (values.size() != 1) return WrongFeature(name, "is not one number");
  *out = values[0];
  return status;
}

absl::Status ReadReals(const storage::Example& example, const char* name, std::vector<float>* out) {
  const storage::Feature* feature = FindFeature(example, name);
  if (feature == nullptr) return WrongFeature(name, "is missing");
  if (!feature->has_float_list()) return WrongFeature(name, "is no float list");
  out->assign(feature->float_list().value().begin(), feature->float_list().value().end());
  return absl::OkStatus();
}

}  // namespace waymark
