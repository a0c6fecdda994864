#include "store/rows/flat_row.h"

#include "absl/strings/str_cat.h"
#include "store/rows/json_struct.h"
#include "store/rows/row_time.h"

namespace waymark {
namespace {

// Appends members in the order in which they are given; empty ones are left out.
class ObjectWriter {
 public:
  void Text(absl::string_view key, absl::string_view value) {
    if (value.empty()) return;
    Key(key);
    AppendJson(value, &text_);
  }
  void Number(absl::string_view key, double value) {
    Key(key);
    AppendJson(value, &text_);
  }
  void NumberUnlessZero(absl::string_view key, double value) {
    if (value != 0) Number(key, value);
  }
  void Raw(absl::string_view key, absl::string_view json) {
    Key(key);
    absl::StrAppend(&text_, json);
  }
  void Object(absl::string_view key, const google::protobuf::Struct& value) {
    if (value.fields_size() != 0) Raw(key, JsonText(value));
  }
  std::string Finish() { return text_ + "}"; }

 private:
  void Key(absl::string_view key) {
    if (text_.size() > 1) text_.push_back(',');
    AppendJson(key, &text_);
    text_.push_back(':');
  }
  std::string text_ = "{";
};

void AddItem(const WriteEvent::Item& item, ObjectWriter* out) {
  out->Text("item_id", item.item_id);
  out->NumberUnlessZero("position", item.position);
  out->NumberUnlessZero("quantity", item.quantity);
  out->NumberUnlessZero("price", item.price);
  out->Text("currency", item.currency);
}

void AddList(const ServedList& list, ObjectWriter* out) {
  out->Text("request_id", list.request_id);
  out->Text("time", FormatRowTime(list.time));
  out->Text("user_id", list.user_id);
  out->Text("surface", list.surface);
  out->Text("query", list.query);
  out->Text("release", list.release);
  out->Text("arm", list.arm);
}

void AddServedItem(const ServedList::Item& item, ObjectWriter* out) {
  out->Text("item_id", item.item_id);
  out->Number("score", item.score);
  out->NumberUnlessZero("team", item.team);
  if (!item.exploration) return;
  out->Number("propensity", item.exploration->propensity);
  out->Number("drawn", item.exploration->drawn ? 1 : 0);
  out->Number("as_ranked", item.exploration->as_ranked);
  out->Number("random", item.exploration->random);
}

}  // namespace

std::string ItemRow(absl::string_view id, const google::protobuf::Struct& fields) {
  std::string text = "{\"id\":";
  AppendJson(id, &text);
  const std::string rest = JsonText(fields);
  if (rest.size() > 2) absl::StrAppend(&text, ",", absl::string_view(rest).substr(1));
  if (rest.size() <= 2) text.push_back('}');
  return text;
}

std::string EventRow(const WriteEvent& event) {
  ObjectWriter out;
  out.Text("event_id", event.event_id);
  out.Text("type", event.type);
  out.Text("user_id", event.user_id);
  out.Text("visitor_id", event.visitor_id);
  out.Text("session_id", event.session_id);
  // The short form has room for the item and its position only.
  const bool short_form = event.items.size() == 1 && event.items[0].quantity == 0 &&
                          event.items[0].price == 0 && event.items[0].currency.empty();
  if (short_form) {
    AddItem(event.items[0], &out);
  } else if (!event.items.empty()) {
    std::string list = "[";
    for (const WriteEvent::Item& item : event.items) {
      ObjectWriter entry;
      AddItem(item, &entry);
      absl::StrAppend(&list, list.size() > 1 ? "," : "", entry.Finish());
    }
    out.Raw("items", list + "]");
  }
  if (event.time) out.Text("time", FormatRowTime(*event.time));
  if (event.value) out.Number("value", *event.value);
  out.Text("query", event.query);
  out.Text("surface", event.surface);
  out.Object("context", event.context);
  out.Text("request_id", event.request_id);
  out.Text("attribution_token", event.attribution_token);
  out.Text("arm", event.arm);
  out.Object("properties", event.properties);
  if (event.received_time) out.Text("received_time", FormatRowTime(*event.received_time));
  return out.Finish();
}

std::string ServedRow(const ServedList& list) {
  ObjectWriter out;
  AddList(list, &out);
  std::string items = "[";
  for (const ServedList::Item& item : list.items) {
    ObjectWriter entry;
    AddServedItem(item, &entry);
    absl::StrAppend(&items, items.size() > 1 ? "," : "", entry.Finish());
  }
  out.Raw("items", items + "]");
  return out.Finish();
}

std::string DecisionRow(const ServedList& list, size_t place, double reward) {
  ObjectWriter out;
  AddList(list, &out);
  out.Number("place", static_cast<double>(place));
  AddServedItem(list.items[place], &out);
  out.Number("reward", reward);
  return out.Finish();
}

}  // namespace waymark
