#include "store/rows/row_mutation.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "store/rows/field_mapping.h"
#include "store/rows/json_struct.h"
#include "store/rows/row_time.h"
#include "store/rows/utf8.h"

namespace waymark {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

absl::Status WrongType(absl::string_view field, const Value& value, absl::string_view wanted) {
  std::string text;
  AppendJson(value, &text);
  std::string held = value.has_string_value() ? Quoted(value.string_value()) : Quoted(text);
  if (value.has_struct_value()) held = "an object";
  if (value.has_list_value()) held = "a list";
  return absl::InvalidArgumentError(absl::StrCat(
      "the field ", Quoted(field), " is ", wanted, ", but holds ", held,
      value.has_number_value() && wanted == "text" ? absl::StrCat("; write it as \"", text, "\"") : ""));
}

absl::Status TakeText(absl::string_view field, const Value& value, std::string* out) {
  if (!value.has_string_value()) return WrongType(field, value, "text");
  *out = value.string_value();
  return absl::OkStatus();
}

absl::Status TakeId(absl::string_view field, const Value& value, std::string* out) {
  if (auto status = TakeText(field, value, out); !status.ok()) return status;
  if (out->size() <= kMaxIdBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the field ", Quoted(field), " holds an id of ", out->size(),
                                                 " bytes; an id has at most ", kMaxIdBytes));
}

absl::Status TakeNumber(absl::string_view field, const Value& value, double* out) {
  if (!value.has_number_value()) return WrongType(field, value, "a number");
  if (!std::isfinite(value.number_value())) return WrongType(field, value, "a finite number");
  *out = value.number_value();
  return absl::OkStatus();
}

absl::Status TakePosition(absl::string_view field, const Value& value, int32_t* out) {
  double number = 0;
  if (auto status = TakeNumber(field, value, &number); !status.ok()) return status;
  if (number < 0 || number != std::floor(number) || number > std::numeric_limits<int32_t>::max()) {
    return WrongType(field, value, "a whole number from 1");
  }
  *out = static_cast<int32_t>(number);
  return absl::OkStatus();
}

absl::Status TakeObject(absl::string_view field, const Value& value, Struct* out) {
  if (!value.has_struct_value()) return WrongType(field, value, "an object");
  *out = value.struct_value();
  return absl::OkStatus();
}

absl::Status TakeTime(absl::string_view field, const Value& value, std::optional<absl::Time>* out) {
  auto time = ParseRowTime(value);
  if (!time.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the field ", Quoted(field), " ", time.status().message()));
  }
  *out = *time;
  return absl::OkStatus();
}

absl::Status TakeItem(const Value& value, size_t at, WriteEvent::Item* item) {
  const std::string path = absl::StrCat("items[", at, "]");
  if (!value.has_struct_value()) return WrongType(path, value, "an object {\"item_id\": ...}");
  for (const auto& [key, member] : value.struct_value().fields()) {
    const std::string name = absl::StrCat(path, ".", key);
    absl::Status status;
    if (key == "item_id") {
      status = TakeId(name, member, &item->item_id);
    } else if (key == "position") {
      status = TakePosition(name, member, &item->position);
    } else if (key == "quantity") {
      status = TakeNumber(name, member, &item->quantity);
    } else if (key == "price") {
      status = TakeNumber(name, member, &item->price);
    } else if (key == "currency") {
      status = TakeText(name, member, &item->currency);
    } else {
      status = absl::InvalidArgumentError(absl::StrCat(
          "unknown key ", Quoted(name), "; it takes item_id, position, quantity, price and currency"));
    }
    if (!status.ok()) return status;
  }
  if (item->item_id.empty())
    return absl::InvalidArgumentError(absl::StrCat("the field '", path, ".item_id' is missing"));
  return absl::OkStatus();
}

absl::Status TakeEventField(const std::string& key, const Value& value, WriteEvent* event,
                            WriteEvent::Item* item) {
  if (value.has_null_value()) return IsEventField(key) ? absl::OkStatus() : absl::InvalidArgumentError("");
  if (key == "event_id") return TakeId(key, value, &event->event_id);
  if (key == "type") return TakeText(key, value, &event->type);
  if (key == "user_id") return TakeId(key, value, &event->user_id);
  if (key == "visitor_id") return TakeId(key, value, &event->visitor_id);
  if (key == "session_id") return TakeId(key, value, &event->session_id);
  if (key == "item_id") return TakeId(key, value, &item->item_id);
  if (key == "position") return TakePosition(key, value, &item->position);
  if (key == "time") return TakeTime(key, value, &event->time);
  if (key == "received_time") return TakeTime(key, value, &event->received_time);
  if (key == "query") return TakeText(key, value, &event->query);
  if (key == "surface") return TakeText(key, value, &event->surface);
  if (key == "request_id") return TakeText(key, value, &event->request_id);
  if (key == "attribution_token") return TakeText(key, value, &event->attribution_token);
  if (key == "arm") return TakeText(key, value, &event->arm);
  if (key == "context") return TakeObject(key, value, &event->context);
  if (key == "properties") return TakeObject(key, value, &event->properties);
  if (key == "value") {
    double number = 0;
    auto status = TakeNumber(key, value, &number);
    if (status.ok()) event->value = number;
    return status;
  }
  if (key == "items") {
    if (!value.has_list_value()) return WrongType(key, value, "a list");
    for (const Value& element : value.list_value().values()) {
      WriteEvent::Item next;
      if (auto status = TakeItem(element, event->items.size(), &next); !status.ok()) return status;
      event->items.push_back(std::move(next));
    }
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("");
}

absl::Status TakeIdOfRow(Struct* row, std::string* id) {
  const auto found = row->fields().find("id");
  if (found == row->fields().end()) {
    return absl::InvalidArgumentError(
        "the field 'id' is missing (--id-column COLUMN says where it is under another name)");
  }
  if (auto status = TakeId("id", found->second, id); !status.ok()) return status;
  if (id->empty()) return absl::InvalidArgumentError("the field 'id' is empty");
  row->mutable_fields()->erase("id");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PutItem> ItemFromRow(Struct row) {
  PutItem item;
  if (auto status = TakeIdOfRow(&row, &item.id); !status.ok()) return status;
  item.fields.Swap(&row);
  return item;
}

absl::StatusOr<PutUser> UserFromRow(Struct row) {
  PutUser user;
  if (auto status = TakeIdOfRow(&row, &user.id); !status.ok()) return status;
  user.fields.Swap(&row);
  return user;
}

absl::StatusOr<WriteEvent> EventFromRow(const Struct& row) {
  WriteEvent event;
  WriteEvent::Item item;
  for (const auto& [key, value] : row.fields()) {
    absl::Status status = TakeEventField(key, value, &event, &item);
    if (status.ok()) continue;
    if (!status.message().empty()) return status;
    return absl::InvalidArgumentError(
        absl::StrCat("unknown key ", Quoted(key), ": an event has ", EventFieldNames(),
                     "; keys of your own go into properties (--map properties.", key, "=", key, ")"));
  }
  if (event.type.empty()) {
    return absl::InvalidArgumentError("the field 'type' is missing (--set type=view gives one to every row)");
  }
  if (event.user_id.empty() && event.visitor_id.empty()) {
    return absl::InvalidArgumentError(
        "the fields 'user_id' and 'visitor_id' are missing; an event has one of them");
  }
  if (!item.item_id.empty()) {
    if (!event.items.empty()) {
      return absl::InvalidArgumentError("the fields 'item_id' and 'items' exclude each other");
    }
    event.items.push_back(std::move(item));
  } else if (item.position != 0) {
    return absl::InvalidArgumentError("the field 'position' needs an 'item_id'");
  }
  if (!event.received_time) event.received_time = event.time;
  return event;
}

}  // namespace waymark
