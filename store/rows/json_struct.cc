#include "store/rows/json_struct.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "store/rows/utf8.h"

namespace waymark {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr int64_t kMaxExact = int64_t{1} << 53;

// Takes the parser's calls and grows the value in place. Every call answers false once something is wrong.
class StructBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit StructBuilder(Value* root) : root_(root) {}
  const absl::Status& status() const { return status_; }

  bool null() override {
    return Put([](Value* v) { v->set_null_value(google::protobuf::NULL_VALUE); });
  }
  bool boolean(bool b) override {
    return Put([b](Value* v) { v->set_bool_value(b); });
  }
  bool number_integer(int64_t n) override {
    return Integer(n >= -kMaxExact && n <= kMaxExact, static_cast<double>(n), absl::StrCat(n));
  }
  bool number_unsigned(uint64_t n) override {
    return Integer(n <= uint64_t{kMaxExact}, static_cast<double>(n), absl::StrCat(n));
  }
  bool number_float(double n, const std::string& text) override {
    // An integer that not even 64 bits hold comes as a float.
    if (text.find_first_of(".eE") == std::string::npos) return Integer(false, n, text);
    return Put([n](Value* v) { v->set_number_value(n); });
  }
  bool string(std::string& text) override {
    return Put([&text](Value* v) { v->set_string_value(std::move(text)); });
  }
  bool binary(nlohmann::json::binary_t&) override { return Refuse("binary values are not JSON"); }

  bool start_object(size_t) override {
    return Open([](Value* v) { v->mutable_struct_value(); });
  }
  bool key(std::string& name) override {
    auto* fields = open_.back().value->mutable_struct_value()->mutable_fields();
    open_.back().key = name;
    if (fields->contains(name)) return Refuse(absl::StrCat("the key ", Path(), " stands there twice"));
    return true;
  }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override {
    return Open([](Value* v) { v->mutable_list_value(); });
  }
  bool end_array() override { return Close(); }

  // The parser's text is «[json.exception.parse_error.101] parse error at line 1, column 5: syntax error
  // while parsing value - invalid literal; last read: 'N'».
  bool parse_error(size_t, const std::string& token, const nlohmann::json::exception& error) override {
    if (error.id == 406) return Refuse(absl::StrCat("the number ", Quoted(token), " is too large"));
    absl::string_view what = error.what();
    if (const size_t at = what.find("column "); at != absl::string_view::npos) what.remove_prefix(at);
    if (absl::EndsWith(token, "N") || absl::EndsWith(token, "I")) {
      return Refuse(absl::StrCat("not JSON, ", what.substr(0, what.find(':')),
                                 ": NaN and Infinity are no JSON numbers; leave the field out"));
    }
    return Refuse(absl::StrCat("not JSON, ", what));
  }

 private:
  struct OpenValue {
    Value* value;
    std::string key;  // of the member that is being read
  };

  std::string Path() const {
    std::string path;
    for (const OpenValue& o : open_) {
      if (o.value->kind_case() == Value::kListValue) {
        absl::StrAppend(&path, "[", std::max(0, o.value->list_value().values_size() - 1), "]");
      } else {
        absl::StrAppend(&path, path.empty() ? "" : ".", o.key);
      }
    }
    return Quoted(path);
  }
  bool Refuse(std::string message) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(message);
    return false;
  }
  // Where the next value goes.
  Value* Slot() {
    if (open_.empty()) return root_;
    Value* parent = open_.back().value;
    if (parent->kind_case() == Value::kListValue) return parent->mutable_list_value()->add_values();
    return &(*parent->mutable_struct_value()->mutable_fields())[open_.back().key];
  }
  template <typename Setter>
  bool Put(Setter set) {
    set(Slot());
    return true;
  }
  template <typename Setter>
  bool Open(Setter set) {
    Value* slot = Slot();
    if (open_.size() >= kMaxJsonDepth) {
      return Refuse(absl::StrCat("the field ", Path(), " is nested deeper than ", kMaxJsonDepth, " levels"));
    }
    set(slot);
    open_.push_back({slot, ""});
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }
  bool Integer(bool exact, double n, absl::string_view text) {
    Value* slot = Slot();
    if (!exact) {
      return Refuse(absl::StrCat("the field ", Path(), " holds the integer ", text,
                                 ", which is beyond 2^53; write it as text: \"", text, "\""));
    }
    slot->set_number_value(n);
    return true;
  }

  Value* root_;
  std::vector<OpenValue> open_;
  absl::Status status_;
};

}  // namespace

absl::Status ParseJsonValue(absl::string_view text, Value* out) {
  if (const size_t bad = FindInvalidUtf8(text); bad != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("byte ", bad + 1, " is not UTF-8"));
  }
  out->Clear();
  StructBuilder builder(out);
  try {
    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
      return builder.status().ok() ? absl::InvalidArgumentError("not JSON") : builder.status();
    }
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not JSON: ", error.what()));
  }
  return absl::OkStatus();
}

absl::Status ParseJsonObject(absl::string_view text, Struct* out) {
  Value value;
  if (auto status = ParseJsonValue(text, &value); !status.ok()) return status;
  if (value.kind_case() != Value::kStructValue) {
    return absl::InvalidArgumentError("a row is a JSON object, {\"id\": ...}; this is another value");
  }
  out->Swap(value.mutable_struct_value());
  return absl::OkStatus();
}

void AppendJson(absl::string_view text, std::string* out) {
  out->push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        out->append("\\\"");
        break;
      case '\\':
        out->append("\\\\");
        break;
      case '\n':
        out->append("\\n");
        break;
      case '\r':
        out->append("\\r");
        break;
      case '\t':
        out->append("\\t");
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          static constexpr char kHex[] = "0123456789abcdef";
          out->append("\\u00");
          out->push_back(kHex[c >> 4]);
          out->push_back(kHex[c & 15]);
        } else {
          out->push_back(c);
        }
    }
  }
  out->push_back('"');
}

void AppendJson(double number, std::string* out) {
  if (!std::isfinite(number)) {  // cannot come from a row; a reader must not choke on it
    out->append("null");
    return;
  }
  char text[32];
  const bool whole = number == std::floor(number) && std::abs(number) <= kMaxExactInteger;
  const auto end = whole ? std::to_chars(text, text + sizeof(text), static_cast<int64_t>(number))
                         : std::to_chars(text, text + sizeof(text), number);
  out->append(text, end.ptr);
}

namespace {

void AppendObject(const Struct& object, std::string* out) {
  std::vector<const std::string*> keys;
  keys.reserve(object.fields_size());
  for (const auto& field : object.fields()) keys.push_back(&field.first);
  std::sort(keys.begin(), keys.end(), [](const auto* a, const auto* b) { return *a < *b; });
  out->push_back('{');
  for (const std::string* key : keys) {
    if (key != keys.front()) out->push_back(',');
    AppendJson(absl::string_view(*key), out);
    out->push_back(':');
    AppendJson(object.fields().at(*key), out);
  }
  out->push_back('}');
}

}  // namespace

void AppendJson(const Value& value, std::string* out) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      return AppendJson(value.number_value(), out);
    case Value::kStringValue:
      return AppendJson(absl::string_view(value.string_value()), out);
    case Value::kBoolValue:
      out->append(value.bool_value() ? "true" : "false");
      return;
    case Value::kStructValue:
      return AppendObject(value.struct_value(), out);
    case Value::kListValue: {
      out->push_back('[');
      bool first = true;
      for (const Value& element : value.list_value().values()) {
        if (!first) out->push_back(',');
        first = false;
        AppendJson(element, out);
      }
      out->push_back(']');
      return;
    }
    default:
      out->append("null");
  }
}

std::string JsonText(const Struct& object) {
  std::string text;
  AppendObject(object, &text);
  return text;
}

}  // namespace waymark
