#include "store/prepared_mutation.h"

#include <algorithm>

namespace waymark {

PreparedEvent PrepareEvent(WriteEvent event, const EventType& type, absl::Time now, std::string made_id) {
  PreparedEvent prepared;
  storage::EventRecord& record = prepared.record;
  prepared.fresh_id = event.event_id.empty();
  record.set_event_id(prepared.fresh_id ? std::move(made_id) : std::move(event.event_id));
  record.set_type(type.code);
  record.set_session_id(std::move(event.session_id));
  record.set_time_us(absl::ToUnixMicros(event.time.value_or(now)));
  record.set_received_time_us(absl::ToUnixMicros(std::min(event.received_time.value_or(now), now)));
  if (event.value.has_value()) record.set_value(*event.value);
  record.set_query(std::move(event.query));
  record.set_surface(std::move(event.surface));
  record.set_request_id(std::move(event.request_id));
  record.set_attribution_token(std::move(event.attribution_token));
  record.set_arm(std::move(event.arm));
  if (event.context.fields_size() > 0) *record.mutable_context() = std::move(event.context);
  if (event.properties.fields_size() > 0) *record.mutable_properties() = std::move(event.properties);
  prepared.item_ids.reserve(event.items.size());
  for (WriteEvent::Item& item : event.items) {
    storage::EventItem* to = record.add_items();
    to->set_position(item.position);
    to->set_quantity(item.quantity);
    to->set_price(item.price);
    to->set_currency(std::move(item.currency));
    prepared.item_ids.push_back(std::move(item.item_id));
  }
  prepared.user_id = std::move(event.user_id);
  prepared.visitor_id = std::move(event.visitor_id);
  return prepared;
}

size_t SizeOf(const PreparedMutation& mutation) {
  constexpr size_t kOverhead = 128;
  struct Visitor {
    size_t operator()(const PutItem& m) const { return m.id.size() + m.fields.ByteSizeLong(); }
    size_t operator()(const UpdateItem& m) const { return m.id.size() + m.fields.ByteSizeLong(); }
    size_t operator()(const PutUser& m) const { return m.id.size() + m.fields.ByteSizeLong(); }
    size_t operator()(const UpdateUser& m) const { return m.id.size() + m.fields.ByteSizeLong(); }
    size_t operator()(const DeleteItem& m) const { return m.id.size(); }
    size_t operator()(const DeleteUser& m) const { return m.id.size(); }
    size_t operator()(const PreparedEvent& m) const {
      // Each item has a line of history, with the session, the query and the surface.
      const size_t line =
          kOverhead + m.record.session_id().size() + m.record.query().size() + m.record.surface().size();
      return m.record.ByteSizeLong() + m.item_ids.size() * line;
    }
  };
  return kOverhead + std::visit(Visitor{}, mutation);
}

}  // namespace waymark
