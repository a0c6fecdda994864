#include "app/event_message.h"

namespace waymark {

namespace {

void SetTime(absl::Time time, google::protobuf::Timestamp* out) {
  const int64_t seconds = absl::ToUnixSeconds(time);
  out->set_seconds(seconds);
  out->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds))));
}

absl::Time TimeOf(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

}  // namespace

v1::Event ToMessage(const WriteEvent& event) {
  v1::Event message;
  message.set_event_id(event.event_id);
  message.set_type(event.type);
  message.set_user_id(event.user_id);
  message.set_visitor_id(event.visitor_id);
  message.set_session_id(event.session_id);
  for (const WriteEvent::Item& item : event.items) {
    v1::EventItem* entry = message.add_items();
    entry->set_item_id(item.item_id);
    entry->set_position(item.position);
    entry->set_quantity(item.quantity);
    entry->set_price(item.price);
    entry->set_currency(item.currency);
  }
  if (event.time) SetTime(*event.time, message.mutable_time());
  if (event.received_time) SetTime(*event.received_time, message.mutable_received_time());
  if (event.value) message.set_value(*event.value);
  message.set_query(event.query);
  message.set_surface(event.surface);
  message.set_request_id(event.request_id);
  message.set_attribution_token(event.attribution_token);
  message.set_arm(event.arm);
  if (event.context.fields_size() > 0) *message.mutable_context() = event.context;
  if (event.properties.fields_size() > 0) *message.mutable_properties() = event.properties;
  return message;
}

WriteEvent FromMessage(const v1::Event& message) {
  WriteEvent event;
  event.event_id = message.event_id();
  event.type = message.type();
  event.user_id = message.user_id();
  event.visitor_id = message.visitor_id();
  event.session_id = message.session_id();
  if (!message.item_id().empty()) {
    event.items.push_back({message.item_id(), message.position(), 0, 0, ""});
  }
  for (const v1::EventItem& item : message.items()) {
    event.items.push_back({item.item_id(), item.position(), item.quantity(), item.price(), item.currency()});
  }
  if (message.has_time()) event.time = TimeOf(message.time());
  if (message.has_received_time()) event.received_time = TimeOf(message.received_time());
  if (message.has_value()) event.value = message.value();
  event.query = message.query();
  event.surface = message.surface();
  event.context = message.context();
  event.request_id = message.request_id();
  event.attribution_token = message.attribution_token();
  event.arm = message.arm();
  event.properties = message.properties();
  return event;
}

}  // namespace waymark
