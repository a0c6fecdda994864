#include "serving/http/json_check.h"

#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "serving/status_details.h"
#include "store/struct_fields.h"

namespace waymark {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Nesting that protobuf's own reader takes.
constexpr size_t kMaxDepth = 90;

bool IsFreeForm(const Descriptor& type) {
  return type.full_name() == "google.protobuf.Struct" || type.full_name() == "google.protobuf.Value" ||
         type.full_name() == "google.protobuf.ListValue";
}
bool IsNamed(const FieldDescriptor* field, std::string_view type) {
  return field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
         field->message_type()->full_name() == type;
}
bool IsMask(const FieldDescriptor* field) { return IsNamed(field, "google.protobuf.FieldMask"); }
constexpr char kMaskText[] = "text, the names of fields with commas between them, as \"title,year\"";

// Types of google.protobuf that have a JSON form of their own, other than an object of their fields.
bool HasOwnForm(const Descriptor& type) { return type.file()->package() == "google.protobuf"; }

const FieldDescriptor* FindField(const Descriptor& type, const std::string& name) {
  if (const auto* field = type.FindFieldByName(name)) return field;
  return type.FindFieldByCamelcaseName(name);
}

class Checker : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Checker(const Descriptor& root) : root_(root) {}

  bool null() override {
    if (!Value("null")) return false;
    // Protobuf would leave it out, and what is answered place by place would shift.
    if (!in_list_ || IsNamed(value_field_, "google.protobuf.Value")) return true;
    return Fail(Path(), absl::StrCat("is null; it takes ", Takes()));
  }
  bool boolean(bool) override { return Scalar("true or false"); }
  bool number_integer(number_integer_t value) override {
    return Scalar("a number") &&
           (value >= -static_cast<int64_t>(kMaxWholeNumber) || TooLarge(absl::StrCat(value)));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Scalar("a number") &&
           (value <= static_cast<uint64_t>(kMaxWholeNumber) || TooLarge(absl::StrCat(value)));
  }
  bool number_float(number_float_t, const string_t& text) override {
    // Whole numbers that 64 bits do not hold come as floats.
    const bool whole = text.find_first_of(".eE") == std::string::npos;
    return Scalar("a number") && (!whole || TooLarge(text));
  }
  bool string(string_t& text) override {
    if (!Scalar("text")) return false;
    if (IsMask(value_field_)) TakeMask(text);
    return true;
  }
  bool binary(binary_t&) override { return Fail("body", "holds binary data, which is no JSON"); }

  bool start_object(size_t) override {
    Frame frame;
    if (!Enter("an object", &frame)) return false;
    if (value_field_ != nullptr && value_field_->is_repeated() && !value_field_->is_map() && !in_list_) {
      return Fail(Path(), "is an object; it takes a list");
    }
    if (frame.type == nullptr && !frame.free && frame.values == nullptr) {
      return Fail(Path(), absl::StrCat("is an object; it takes ",
                                       IsMask(value_field_) ? kMaskText : "a single value"));
    }
    return Push(std::move(frame));
  }
  bool key(string_t& name) override {
    Frame& top = frames_.back();
    top.name = name;
    if (top.type != nullptr) top.field = FindField(*top.type, name);
    // A field has two spellings, «page_size» and «pageSize».
    if (!top.names.insert(top.field != nullptr ? top.field->name() : name).second) {
      return Fail(Path(), "is there twice; a key stands once");
    }
    if (top.type == nullptr || top.field != nullptr) return true;
    return Fail(Path(), absl::StrCat("is no field of ", top.type->name()));
  }
  bool end_object() override { return Pop(); }

  bool start_array(size_t) override {
    Frame frame;
    if (!Enter("a list", &frame)) return false;
    if (!frame.free &&
        !(value_field_ != nullptr && value_field_->is_repeated() && !value_field_->is_map() && !in_list_)) {
      return Fail(Path(), absl::StrCat("is a list; it takes ", Takes()));
    }
    if (!frames_.back().free && !in_list_ && value_field_ != nullptr && !value_field_->is_repeated() &&
        IsNamed(value_field_, "google.protobuf.Struct")) {
      return Fail(Path(), "is a list; it takes an object");
    }
    Frame list;
    list.list = true;
    list.free = frame.free && !(value_field_ != nullptr && value_field_->is_repeated() && !in_list_);
    list.field = list.free ? nullptr : value_field_;
    list.index = -1;
    return Push(std::move(list));
  }
  bool end_array() override { return Pop(); }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    if (!status_.ok()) return false;
    std::string why = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 9: syntax error ...".
    if (const size_t end = why.find("] "); end != std::string::npos) why = why.substr(end + 2);
    return Fail("body", absl::StrCat("is not JSON at byte ", position, " (", why, ")"));
  }

  absl::Status status() const { return status_; }
  std::vector<WrittenMask> TakeMasks() { return std::move(masks_); }

 private:
  // An object or a list that has begun and not ended.
  struct Frame {
    const Descriptor* type = nullptr;         // of a message
    const FieldDescriptor* values = nullptr;  // of a map: what its values are
    bool free = false;                        // inside of free-form fields
    bool list = false;
    const FieldDescriptor* field = nullptr;  // of a message: the field at hand; of a list: the field it is
    std::string name;                        // the key at hand
    absl::flat_hash_set<std::string> names;  // of an object: its keys so far
    int index = 0;                           // of a list
  };

  // A value begins: notes which field it is of, and whether inside of a list of it or of free-form fields.
  bool Value(const char* what) {
    in_list_ = false;
    value_free_ = false;
    value_field_ = nullptr;
    if (frames_.empty()) {
      at_root_ = true;
      return std::string_view(what) == "an object" ||
             Fail("body",
                  absl::StrCat("is ", what, "; it takes an object with the fields of ", root_.name()));
    }
    at_root_ = false;
    Frame& top = frames_.back();
    if (top.list) ++top.index;
    in_list_ = top.list && !top.free;
    value_free_ = top.free;
    value_field_ = top.values != nullptr ? top.values : top.field;
    // The field itself may be free-form.
    if (value_field_ != nullptr && value_field_->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
        IsFreeForm(*value_field_->message_type())) {
      value_free_ = true;
    }
    return true;
  }

  // What the value at hand takes, where it is no free-form value.
  std::string Takes() const {
    const FieldDescriptor* field = value_field_;
    if (field == nullptr) return "a single value";
    if (field->is_map() && !in_list_) return "an object";
    if (field->is_repeated() && !in_list_) return "a list";
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return "a single value";
    if (IsMask(field)) return kMaskText;
    if (IsNamed(field, "google.protobuf.Struct")) return "an object";
    if (HasOwnForm(*field->message_type())) return "a single value";
    return absl::StrCat("an object with the fields of ", field->message_type()->name());
  }

  // A value that is neither object nor list.
  bool Scalar(const char* what) {
    if (!Value(what)) return false;
    const std::string takes = frames_.back().free ? "" : Takes();
    const bool other = takes.starts_with("an object") || takes == "a list" ||
                       (takes == kMaskText && std::string_view(what) != "text");
    return !other || Fail(Path(), absl::StrCat("is ", what, "; it takes ", takes));
  }

  bool Enter(const char* what, Frame* frame) {
    if (!Value(what)) return false;
    if (frames_.size() >= kMaxDepth) return Fail(Path(), absl::StrCat("is nested over ", kMaxDepth, " deep"));
    if (at_root_) {
      frame->type = &root_;
    } else if (value_free_) {
      frame->free = true;
    } else if (value_field_->is_map() && !in_list_) {
      frame->values = value_field_->message_type()->map_value();
    } else if (value_field_->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
               !HasOwnForm(*value_field_->message_type())) {
      frame->type = value_field_->message_type();
    }
    return true;
  }
  bool Push(Frame frame) {
    frames_.push_back(std::move(frame));
    return true;
  }
  bool Pop() {
    frames_.pop_back();
    return true;
  }

  bool TooLarge(const std::string& number) {
    if (!value_free_) return true;  // protobuf knows the range of its own fields
    return Fail(Path(), absl::StrCat("is ", number,
                                     ", a whole number beyond 2^53, which would lose digits; write "
                                     "it as text"));
  }
  void TakeMask(const std::string& text) {
    WrittenMask mask;
    for (const Frame& frame : frames_) {
      if (frame.list) {
        mask.place.back().index = frame.index;
      } else if (frame.field == nullptr) {
        return;  // a value of a map; protobuf's own reading stays
      } else {
        mask.place.push_back({frame.field, -1});
      }
    }
    mask.paths = absl::StrSplit(text, ',', absl::SkipEmpty());
    masks_.push_back(std::move(mask));
  }

  std::string Path() const {
    std::string path;
    for (const Frame& frame : frames_) {
      if (frame.list) {
        absl::StrAppend(&path, "[", frame.index, "]");
      } else {
        absl::StrAppend(&path, path.empty() ? "" : ".", frame.name);
      }
    }
    return path.empty() ? "body" : path;
  }
  bool Fail(const std::string& path, const std::string& message) {
    if (status_.ok()) status_ = InvalidField(path, message);
    return false;
  }

  const Descriptor& root_;
  std::vector<Frame> frames_;
  std::vector<WrittenMask> masks_;
  absl::Status status_;
  // Of the value at hand.
  const FieldDescriptor* value_field_ = nullptr;
  bool value_free_ = false, in_list_ = false, at_root_ = false;
};

}  // namespace

absl::StatusOr<std::vector<WrittenMask>> CheckJson(std::string_view json, const Descriptor& message) {
  Checker checker(message);
  const bool read = nlohmann::json::sax_parse(json.begin(), json.end(), &checker);
  if (!checker.status().ok()) return checker.status();
  if (!read) return InvalidField("body", "is not JSON");
  return checker.TakeMasks();
}

void ApplyMasks(const std::vector<WrittenMask>& masks, google::protobuf::Message* message) {
  for (const WrittenMask& mask : masks) {
    google::protobuf::Message* at = message;
    for (const WrittenMask::Step& step : mask.place) {
      const auto* reflection = at->GetReflection();
      at = step.index >= 0 ? reflection->MutableRepeatedMessage(at, step.field, step.index)
                           : reflection->MutableMessage(at, step.field);
    }
    const FieldDescriptor* paths = at->GetDescriptor()->FindFieldByName("paths");
    at->GetReflection()->ClearField(at, paths);
    for (const std::string& path : mask.paths) at->GetReflection()->AddString(at, paths, path);
  }
}

}  // namespace waymark
