#include "serving/services/event_messages.h"

#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pipeline/engine.h"
#include "serving/services/time_messages.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

// Names kept by one reader; more are looked up again.
constexpr size_t kMaxNames = 100000;

WriteEvent::Item ItemOf(const v1::EventItem& from) {
  return {from.item_id(), from.position(), from.quantity(), from.price(), from.currency()};
}

absl::Status ReadItems(const v1::Event& event, std::vector<WriteEvent::Item>* items) {
  if (!event.item_id().empty() && !event.items().empty()) {
    return InvalidField("event.item_id", "stands for one entry of `items`; give one of both");
  }
  if (!event.item_id().empty()) {
    items->push_back({.item_id = event.item_id(), .position = event.position()});
    return absl::OkStatus();
  }
  for (const v1::EventItem& item : event.items()) items->push_back(ItemOf(item));
  // A position outside of the entries belongs to an only item.
  if (items->size() == 1 && items->front().position == 0) items->front().position = event.position();
  return absl::OkStatus();
}

void SetItems(const storage::EventRecord& record, const std::function<const std::string&(ItemOrdinal)>& id,
              v1::Event* event) {
  for (const storage::EventItem& from : record.items()) {
    v1::EventItem* item = event->add_items();
    item->set_item_id(id(from.item()));
    item->set_position(from.position());
    item->set_quantity(from.quantity());
    item->set_price(from.price());
    item->set_currency(from.currency());
  }
  if (event->items_size() != 1) return;
  // The short form, where it says all there is.
  const v1::EventItem& only = event->items(0);
  event->set_position(only.position());
  if (only.quantity() != 0 || only.price() != 0 || !only.currency().empty()) return;
  event->set_item_id(only.item_id());
  event->clear_items();
}

}  // namespace

absl::StatusOr<Mutation> EventOf(const Engine& engine, const v1::Event& event, bool imported) {
  WriteEvent write;
  if (auto status = ReadItems(event, &write.items); !status.ok()) return status;
  if (event.position() < 0) {
    return InvalidField("event.position",
                        absl::StrCat("is ", event.position(), "; it takes 0 (unknown) or more"));
  }
  if (event.has_time()) {
    auto time = ReadTimestamp(event.time(), "event.time");
    if (!time.ok()) return time.status();
    write.time = *time;
    if (imported) write.received_time = *time;
  }
  write.request_id = event.request_id();
  // History that another folder has written brings its arm along.
  if (imported) write.arm = event.arm();
  if (!event.attribution_token().empty()) {
    const auto attribution = engine.ReadAttributionToken(event.attribution_token());
    if (!attribution.ok()) {
      return WithReason(InvalidField("event.attribution_token",
                                     "is no token of this server; send it as the answer gave it, or leave it "
                                     "out"),
                        "ATTRIBUTION_TOKEN_INVALID");
    }
    write.arm = attribution->arm();
    if (write.request_id.empty()) write.request_id = attribution->request_id();
  }
  write.event_id = event.event_id();
  write.type = event.type();
  write.user_id = event.user_id();
  write.visitor_id = event.visitor_id();
  write.session_id = event.session_id();
  if (event.has_value()) write.value = event.value();
  write.query = event.query();
  write.surface = event.surface();
  write.attribution_token = event.attribution_token();
  write.context = event.context();
  write.properties = event.properties();
  return Mutation(std::move(write));
}

EventReader::EventReader(const Store& store, Scope scope)
    : store_(store), scope_(scope), types_(store.GetEventTypes(scope)) {}

const EventReader::UserName& EventReader::User(UserNumber user) {
  if (users_.size() > kMaxNames) users_.clear();
  const auto [found, added] = users_.try_emplace(user);
  if (added) {
    auto record = store_.GetUser(scope_, user);
    if (record.ok() && !record->deleted()) found->second = {record->id(), record->visitor()};
  }
  return found->second;
}

const std::string& EventReader::ItemId(ItemOrdinal item) {
  if (items_.size() > kMaxNames) items_.clear();
  const auto [found, added] = items_.try_emplace(item);
  if (added) found->second = store_.ItemId(scope_, item);
  return found->second;
}

std::optional<v1::Event> EventReader::Read(const storage::EventRecord& record) {
  v1::Event event;
  // An event of a visitor alone has the visitor's number in both places, or in one.
  for (const UserNumber number : {record.user(), record.visitor()}) {
    if (number == 0) continue;
    const UserName& name = User(number);
    if (!name.id.empty()) (name.visitor ? *event.mutable_visitor_id() : *event.mutable_user_id()) = name.id;
  }
  if (event.user_id().empty() && event.visitor_id().empty()) return std::nullopt;
  event.set_event_id(record.event_id());
  if (const EventType* type = types_.Find(record.type())) event.set_type(type->name);
  event.set_session_id(record.session_id());
  SetItems(
      record, [this](ItemOrdinal item) -> const std::string& { return ItemId(item); }, &event);
  SetTimestamp(record.time_us(), event.mutable_time());
  if (record.has_value()) event.set_value(record.value());
  event.set_query(record.query());
  event.set_surface(record.surface());
  if (record.has_context()) *event.mutable_context() = record.context();
  event.set_request_id(record.request_id());
  event.set_attribution_token(record.attribution_token());
  event.set_arm(record.arm());
  if (record.has_properties()) *event.mutable_properties() = record.properties();
  SetTimestamp(record.received_time_us(), event.mutable_received_time());
  return event;
}

}  // namespace waymark
