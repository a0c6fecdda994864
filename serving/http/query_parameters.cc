#include "serving/http/query_parameters.h"

#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/util/json_util.h"
#include "nlohmann/json.hpp"
#include "serving/http/path_template.h"
#include "serving/status_details.h"
#include "store/text_check.h"

namespace waymark {
namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr size_t kMaxParameters = 1000;

// Sets or adds, as the field is.
class FieldWriter {
 public:
  FieldWriter(Message* message, const FieldDescriptor* field) : message_(message), field_(field) {}
  void Int32(int32_t v) {
    field_->is_repeated() ? to()->AddInt32(message_, field_, v) : to()->SetInt32(message_, field_, v);
  }
  void Int64(int64_t v) {
    field_->is_repeated() ? to()->AddInt64(message_, field_, v) : to()->SetInt64(message_, field_, v);
  }
  void UInt32(uint32_t v) {
    field_->is_repeated() ? to()->AddUInt32(message_, field_, v) : to()->SetUInt32(message_, field_, v);
  }
  void UInt64(uint64_t v) {
    field_->is_repeated() ? to()->AddUInt64(message_, field_, v) : to()->SetUInt64(message_, field_, v);
  }
  void Double(double v) {
    field_->is_repeated() ? to()->AddDouble(message_, field_, v) : to()->SetDouble(message_, field_, v);
  }
  void Float(float v) {
    field_->is_repeated() ? to()->AddFloat(message_, field_, v) : to()->SetFloat(message_, field_, v);
  }
  void Bool(bool v) {
    field_->is_repeated() ? to()->AddBool(message_, field_, v) : to()->SetBool(message_, field_, v);
  }
  void Enum(int v) {
    field_->is_repeated() ? to()->AddEnumValue(message_, field_, v) : to()->SetEnumValue(message_, field_, v);
  }
  void String(std::string v) {
    field_->is_repeated() ? to()->AddString(message_, field_, std::move(v))
                          : to()->SetString(message_, field_, std::move(v));
  }
  Message* Submessage() {
    return field_->is_repeated() ? to()->AddMessage(message_, field_)
                                 : to()->MutableMessage(message_, field_);
  }

 private:
  const Reflection* to() const { return message_->GetReflection(); }
  Message* message_;
  const FieldDescriptor* field_;
};

// Whether the message has a JSON form that is one text or number: times, durations, masks, wrappers.
bool HasTextForm(const FieldDescriptor* field) {
  static const std::set<std::string> kTypes = {"Timestamp",   "Duration",   "FieldMask",   "DoubleValue",
                                               "FloatValue",  "Int64Value", "UInt64Value", "Int32Value",
                                               "UInt32Value", "BoolValue",  "StringValue", "BytesValue"};
  const auto* type = field->message_type();
  return type->file()->package() == "google.protobuf" && kTypes.contains(type->name());
}

bool WriteMessage(const std::string& value, FieldWriter writer) {
  const std::string quoted =
      nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return google::protobuf::util::JsonStringToMessage(quoted, writer.Submessage()).ok();
}

bool WriteEnum(const FieldDescriptor* field, const std::string& value, FieldWriter writer) {
  int number = 0;
  if (const EnumValueDescriptor* known = field->enum_type()->FindValueByName(value)) {
    number = known->number();
  } else if (!absl::SimpleAtoi(value, &number) || field->enum_type()->FindValueByNumber(number) == nullptr) {
    return false;
  }
  writer.Enum(number);
  return true;
}

template <class Number, class Write>
bool WriteWhole(const std::string& value, const Write& write) {
  Number number = 0;
  if (!absl::SimpleAtoi(value, &number)) return false;
  write(number);
  return true;
}

bool WriteText(const FieldDescriptor* field, const std::string& value, FieldWriter writer) {
  if (field->type() != FieldDescriptor::TYPE_BYTES) {
    writer.String(value);
    return true;
  }
  std::string bytes;
  if (!absl::Base64Unescape(value, &bytes) && !absl::WebSafeBase64Unescape(value, &bytes)) return false;
  writer.String(std::move(bytes));
  return true;
}

bool WriteValue(const FieldDescriptor* field, const std::string& value, FieldWriter writer) {
  double number = 0;
  bool truth = false;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return WriteWhole<int32_t>(value, [&](int32_t v) { writer.Int32(v); });
    case FieldDescriptor::CPPTYPE_INT64:
      return WriteWhole<int64_t>(value, [&](int64_t v) { writer.Int64(v); });
    case FieldDescriptor::CPPTYPE_UINT32:
      return WriteWhole<uint32_t>(value, [&](uint32_t v) { writer.UInt32(v); });
    case FieldDescriptor::CPPTYPE_UINT64:
      return WriteWhole<uint64_t>(value, [&](uint64_t v) { writer.UInt64(v); });
    case FieldDescriptor::CPPTYPE_DOUBLE:
      if (!absl::SimpleAtod(value, &number)) return false;
      writer.Double(number);
      return true;
    case FieldDescriptor::CPPTYPE_FLOAT:
      if (!absl::SimpleAtod(value, &number)) return false;
      writer.Float(static_cast<float>(number));
      return true;
    case FieldDescriptor::CPPTYPE_BOOL:
      if (value != "true" && value != "false") return false;
      truth = value == "true";
      writer.Bool(truth);
      return true;
    case FieldDescriptor::CPPTYPE_ENUM:
      return WriteEnum(field, value, writer);
    case FieldDescriptor::CPPTYPE_STRING:
      return WriteText(field, value, writer);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return WriteMessage(value, writer);
  }
  return false;
}

std::string Takes(const FieldDescriptor* field) {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "a number";
    case FieldDescriptor::CPPTYPE_STRING:
      return "base64";
    case FieldDescriptor::CPPTYPE_ENUM: {
      std::string names;
      for (int i = 0; i < field->enum_type()->value_count(); ++i) {
        absl::StrAppend(&names, i == 0 ? "" : ", ", field->enum_type()->value(i)->name());
      }
      return absl::StrCat("one of ", names);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return absl::StrCat("the text form of ", field->message_type()->full_name());
    default:
      return absl::StrCat("a whole number (", field->cpp_type_name(), ")");
  }
}

}  // namespace

absl::StatusOr<QueryParameters> ParseQuery(std::string_view query) {
  QueryParameters parameters;
  for (absl::string_view part :
       absl::StrSplit(absl::string_view(query.data(), query.size()), '&', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> halves = absl::StrSplit(part, absl::MaxSplits('=', 1));
    auto name = PercentDecode(halves.first, /*plus_is_space=*/true);
    auto value = PercentDecode(halves.second, /*plus_is_space=*/true);
    if (!name || !value) return InvalidField(halves.first, "is not percent-encoded properly");
    if (!IsUtf8(*name) || !IsUtf8(*value)) {
      return InvalidField(Shortened(*name), absl::StrCat("is '", Shortened(*value),
                                                         "' once percent-decoded, which is not valid UTF-8; "
                                                         "it takes UTF-8 text"));
    }
    parameters.emplace_back(*std::move(name), *std::move(value));
    if (parameters.size() > kMaxParameters) {
      return absl::InvalidArgumentError(
          absl::StrCat("the URL has over ", kMaxParameters, " parameters; use POST"));
    }
  }
  return parameters;
}

absl::Status SetField(Message* message, const std::string& field_path, const std::string& value) {
  Message* at = message;
  const std::vector<std::string> names = absl::StrSplit(field_path, '.');
  for (size_t i = 0; i < names.size(); ++i) {
    const FieldDescriptor* field = at->GetDescriptor()->FindFieldByName(names[i]);
    if (field == nullptr) field = at->GetDescriptor()->FindFieldByCamelcaseName(names[i]);
    if (field == nullptr) {
      return InvalidField(field_path, absl::StrCat("is no field of ", message->GetDescriptor()->name()));
    }
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const bool text = !is_message || HasTextForm(field);
    if (i + 1 < names.size()) {
      if (text || field->is_repeated())
        return InvalidField(field_path, absl::StrCat("has no fields below '", names[i], "'"));
      at = at->GetReflection()->MutableMessage(at, field);
      continue;
    }
    if (!text || field->is_map())
      return InvalidField(field_path, "has no text form; send it in the body of a POST");
    const Reflection* reflection = at->GetReflection();
    if (!field->is_repeated() && reflection->HasField(*at, field)) {
      return InvalidField(field_path, "is given twice; it takes one value");
    }
    if (!WriteValue(field, value, FieldWriter(at, field))) {
      return InvalidField(field_path,
                          absl::StrCat("is '", value.substr(0, 200), "'; it takes ", Takes(field)));
    }
  }
  return absl::OkStatus();
}

}  // namespace waymark
