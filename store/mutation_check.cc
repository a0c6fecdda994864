#include "store/mutation_check.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "store/struct_fields.h"
#include "store/text_check.h"

namespace waymark {
namespace {

// Runs checks one after another and keeps the first that fails.
class Checks {
 public:
  void Add(const absl::Status& status) { status_.Update(status); }
  void Id(const std::string& field, std::string_view id) { Add(CheckId(field, id)); }
  void OptionalId(const std::string& field, std::string_view id) {
    if (!id.empty()) Id(field, id);
  }
  void Text(const std::string& field, std::string_view text, size_t max_bytes) {
    Add(CheckText(field, text, max_bytes));
  }
  void Fields(const std::string& field, const google::protobuf::Struct& fields) {
    if (status_.ok()) Add(CheckFields(field, fields));
  }
  void Finite(const std::string& field, double number) {
    if (!std::isfinite(number)) Wrong(absl::StrCat(field, " is ", number, "; it takes a finite number"));
  }
  void NotNegative(const std::string& field, double number) {
    Finite(field, number);
    if (number < 0) Wrong(absl::StrCat(field, " is ", number, "; it takes 0 or more"));
  }
  void Paths(const std::string& field, const std::vector<std::string>& paths) {
    for (const std::string& path : paths) Id(field, path);
  }
  void Version(const std::string& field, int64_t version) {
    if (version < 0) Wrong(absl::StrCat(field, " is ", version, "; it takes a version, or 0 for any"));
  }
  void Time(const std::string& field, const std::optional<absl::Time>& time, absl::Time now) {
    if (!time.has_value()) return;
    if (*time >= absl::UnixEpoch() && *time <= now + kMaxFuture) return;
    Wrong(absl::StrCat(field, " is ", absl::FormatTime(absl::RFC3339_full, *time, absl::UTCTimeZone()),
                       "; it takes a time between 1970-01-01 and one day from now (is the unit right? epoch "
                       "seconds and milliseconds are taken)"));
  }
  void Wrong(std::string message) { Add(absl::InvalidArgumentError(std::move(message))); }
  absl::Status Take() { return std::move(status_); }
  bool ok() const { return status_.ok(); }

 private:
  absl::Status status_;
};

bool IsCurrency(std::string_view text) {
  return text.size() == 3 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
         });
}

void CheckEventItem(const WriteEvent::Item& item, size_t index, Checks& checks) {
  const std::string prefix = absl::StrCat("event.items[", index, "]");
  checks.Id(prefix + ".item_id", item.item_id);
  if (item.position < 0) {
    checks.Wrong(absl::StrCat(prefix, ".position is ", item.position, "; it takes 0 (unknown) or more"));
  }
  checks.NotNegative(prefix + ".quantity", item.quantity);
  checks.Finite(prefix + ".price", item.price);
  if (!item.currency.empty() && !IsCurrency(item.currency)) {
    checks.Wrong(absl::StrCat(prefix, ".currency is '", Shortened(item.currency),
                              "'; it takes three letters (ISO 4217), such as EUR"));
  }
}

absl::Status CheckEvent(const WriteEvent& event, const EventTypes& types, absl::Time now) {
  Checks checks;
  checks.OptionalId("event.event_id", event.event_id);
  if (types.Find(event.type) == nullptr) {
    const std::string known = absl::StrJoin(
        types.All(), ", ", [](std::string* out, const EventType& type) { absl::StrAppend(out, type.name); });
    checks.Wrong(absl::StrCat("event.type is '", Shortened(event.type), "'; this collection knows ", known));
  }
  if (event.user_id.empty() && event.visitor_id.empty()) {
    checks.Wrong("event.user_id and event.visitor_id are both empty; an event takes at least one of them");
  }
  checks.OptionalId("event.user_id", event.user_id);
  checks.OptionalId("event.visitor_id", event.visitor_id);
  checks.OptionalId("event.session_id", event.session_id);
  checks.OptionalId("event.surface", event.surface);
  checks.OptionalId("event.request_id", event.request_id);
  checks.Text("event.attribution_token", event.attribution_token, kMaxAttributionTokenBytes);
  checks.OptionalId("event.arm", event.arm);
  checks.Text("event.query", event.query, kMaxEventQueryBytes);
  checks.Time("event.time", event.time, now);
  checks.Time("event.received_time", event.received_time, now);
  if (event.value.has_value()) checks.Finite("event.value", *event.value);
  if (event.items.size() > kMaxEventItems) {
    checks.Wrong(
        absl::StrCat("event.items has ", event.items.size(), " entries; it takes at most ", kMaxEventItems));
  }
  for (size_t i = 0; i < event.items.size() && checks.ok(); ++i) CheckEventItem(event.items[i], i, checks);
  checks.Fields("event.context", event.context);
  checks.Fields("event.properties", event.properties);
  return checks.Take();
}

template <typename Put>
absl::Status CheckPut(const std::string& kind, const Put& put) {
  Checks checks;
  checks.Id(kind + ".id", put.id);
  checks.Fields(kind + ".fields", put.fields);
  return checks.Take();
}

template <typename Update>
absl::Status CheckUpdate(const std::string& kind, const Update& update) {
  Checks checks;
  checks.Add(CheckPut(kind, update));
  checks.Paths("update_mask", update.paths);
  checks.Version("expected_version", update.expected_version);
  return checks.Take();
}

}  // namespace

absl::Status CheckMutation(const Mutation& mutation, const EventTypes& types, absl::Time now) {
  struct Visitor {
    const EventTypes& types;
    absl::Time now;
    absl::Status operator()(const PutItem& m) const { return CheckPut("item", m); }
    absl::Status operator()(const UpdateItem& m) const { return CheckUpdate("item", m); }
    absl::Status operator()(const DeleteItem& m) const { return CheckId("item.id", m.id); }
    absl::Status operator()(const PutUser& m) const { return CheckPut("user", m); }
    absl::Status operator()(const UpdateUser& m) const { return CheckUpdate("user", m); }
    absl::Status operator()(const DeleteUser& m) const { return CheckId("user.id", m.id); }
    absl::Status operator()(const WriteEvent& m) const { return CheckEvent(m, types, now); }
  };
  return std::visit(Visitor{types, now}, mutation);
}

}  // namespace waymark
