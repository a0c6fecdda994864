#include "store/mutation_check.h"

#include <cmath>
#include <limits>

#include "store/struct_fields.h"
#include "store/text_check.h"
#include "tests/store/fixture.h"

namespace waymark::tests {
namespace {

std::string Refusal(const Mutation& mutation) {
  const absl::Status status = CheckMutation(mutation, EventTypes(), kNow);
  if (status.ok()) return "taken";
  CHECK(absl::IsInvalidArgument(status));
  return std::string(status.message());
}
bool Says(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    if (message.find(part) == std::string::npos) {
      FAIL_CHECK("'" << message << "' does not say '" << part << "'");
      return false;
    }
  }
  return true;
}
WriteEvent Changed(const std::function<void(WriteEvent&)>& change) {
  WriteEvent event = Event("u1", "i1");
  change(event);
  return event;
}
google::protobuf::Value Nested(int depth) {
  google::protobuf::Value value = Number(1);
  for (int i = 0; i < depth; ++i) {
    google::protobuf::Value outer;
    (*outer.mutable_struct_value()->mutable_fields())["f"] = value;
    value = outer;
  }
  return value;
}

}  // namespace

TEST_CASE("ids are 1 to 512 bytes of UTF-8 without control characters") {
  CHECK(Refusal(PutItem{"m1", {}}) == "taken");
  CHECK(Refusal(PutItem{"żółw/鳥 🐢", {}}) == "taken");
  CHECK(Refusal(PutItem{std::string(512, 'a'), {}}) == "taken");
  CHECK(Says(Refusal(PutItem{"", {}}), {"item.id", "empty"}));
  CHECK(Says(Refusal(PutItem{std::string(513, 'a'), {}}), {"item.id", "513 bytes", "512"}));
  CHECK(Says(Refusal(PutItem{"a\nb", {}}), {"item.id", "a\\nb", "control"}));
  CHECK(Says(Refusal(PutItem{std::string("a\0b", 3), {}}), {"item.id", "control"}));
  CHECK(Says(Refusal(PutItem{"a\xc2\x85z", {}}), {"control"}));  // U+0085
  CHECK(Says(Refusal(PutItem{"\xc3\x28", {}}), {"not UTF-8"}));
  CHECK(Says(Refusal(DeleteItem{""}), {"item.id"}));
  CHECK(Says(Refusal(PutUser{"", {}}), {"user.id"}));
  CHECK(Says(Refusal(DeleteUser{"\x7f"}), {"user.id"}));
}

TEST_CASE("UTF-8 is told as RFC 3629 has it") {
  for (const char* good : {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    CHECK(IsUtf8(good));
  }
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc2", "\xe2\x82", "\xff"}) {
    CHECK_FALSE(IsUtf8(bad));
  }
}

TEST_CASE("fields are finite, at most 2^53, at most 32 deep, at most 1 MB") {
  const auto put = [](google::protobuf::Value value) { return PutItem{"m1", Fields({{"price", value}})}; };
  CHECK(Refusal(put(Number(9007199254740992.0))) == "taken");
  CHECK(Refusal(put(Number(-9007199254740992.0))) == "taken");
  CHECK(Says(Refusal(put(Number(9007199254740994.0))),
             {"item.fields.price", "9007199254740994", "2^53", "write it as text"}));
  CHECK(Says(Refusal(put(Number(-9007199254740994.0))), {"write it as text"}));
  CHECK(Says(Refusal(put(Number(std::nan("")))), {"item.fields.price", "nan", "finite"}));
  CHECK(Says(Refusal(put(Number(std::numeric_limits<double>::infinity()))), {"inf"}));
  CHECK(Says(Refusal(put(Text("\xff"))), {"item.fields.price", "not UTF-8"}));
  CHECK(Says(Refusal(put(Text(std::string(kMaxRecordBytes, 'x')))), {"item.fields", "1048576"}));
  CHECK(Says(Refusal(put({})), {"item.fields.price", "no value"}));
  CHECK(Refusal(put(Nested(31))) == "taken");
  CHECK(Says(Refusal(put(Nested(32))), {"32 levels"}));
  CHECK(Says(Refusal(PutItem{"m1", Fields({{"", Number(1)}})}), {"a field's name"}));
  google::protobuf::Value list;
  *list.mutable_list_value()->add_values() = Number(1);
  *list.mutable_list_value()->add_values() = Number(1e300);
  CHECK(Says(Refusal(put(list)), {"item.fields.price[1]"}));
}

TEST_CASE("an event says who, what and when in ways that are taken") {
  CHECK(Refusal(Event("u1", "i1")) == "taken");
  CHECK(Says(Refusal(Changed([](auto& e) { e.type = "clikc"; })), {"event.type", "clikc", "add_to_cart"}));
  CHECK(Says(Refusal(Changed([](auto& e) { e.user_id = ""; })), {"user_id", "visitor_id", "at least one"}));
  CHECK(Says(Refusal(Changed([](auto& e) { e.items[0].item_id = ""; })), {"event.items[0].item_id"}));
  CHECK(Says(Refusal(Changed([](auto& e) { e.event_id = std::string(513, 'e'); })), {"event.event_id"}));
  CHECK(Says(Refusal(Changed([](auto& e) { e.session_id = "\x01"; })), {"event.session_id"}));
  CHECK(Says(Refusal(Changed([](auto& e) { e.query = std::string(2049, 'q'); })), {"event.query", "2048"}));
  CHECK(Says(Refusal(Changed([](auto& e) { e.value = NAN; })), {"event.value"}));
  CHECK(Says(Refusal(Changed([](auto& e) { e.items[0].quantity = -1; })), {"event.items[0].quantity", "-1"}));
  CHECK(Says(Refusal(Changed([](auto& e) { e.items[0].price = INFINITY; })), {"event.items[0].price"}));
  CHECK(Says(Refusal(Changed([](auto& e) { e.items[0].position = -2; })), {"event.items[0].position"}));
  CHECK(Says(Refusal(Changed([](auto& e) { e.items[0].currency = "EURO"; })), {"currency", "EURO", "three"}));
  CHECK(Refusal(Changed([](auto& e) { e.items[0].currency = "EUR"; })) == "taken");
  CHECK(Refusal(Changed([](auto& e) { e.items.assign(1000, {.item_id = "i"}); })) == "taken");
  CHECK(Says(Refusal(Changed([](auto& e) { e.items.assign(1001, {.item_id = "i"}); })), {"1001", "1000"}));
  CHECK(Says(Refusal(Changed([](auto& e) {
               e.context = Fields({{"c", Number(NAN)}});
             })),
             {"event.context.c"}));
  CHECK(Says(Refusal(Changed([](auto& e) {
               e.properties = Fields({{"p", Number(1e99)}});
             })),
             {"event.properties.p"}));
}

TEST_CASE("an event's time lies between 1970 and one day from now") {
  CHECK(Refusal(Changed([](auto& e) { e.time = absl::UnixEpoch(); })) == "taken");
  CHECK(Refusal(Changed([](auto& e) { e.time = kNow + absl::Hours(24); })) == "taken");
  CHECK(Says(Refusal(Changed([](auto& e) { e.time = absl::UnixEpoch() - absl::Microseconds(1); })),
             {"event.time", "1969-12-31"}));
  CHECK(Says(Refusal(Changed([](auto& e) { e.time = kNow + absl::Hours(24) + absl::Seconds(1); })),
             {"event.time", "2024-05-02T12:00:01"}));
  CHECK(Says(Refusal(Changed([](auto& e) { e.time = absl::InfiniteFuture(); })), {"event.time"}));
  CHECK(Says(Refusal(Changed([](auto& e) { e.received_time = absl::InfinitePast(); })),
             {"event.received_time"}));
}

TEST_CASE("updates take a mask of names and a version") {
  CHECK(Refusal(UpdateItem{"m1", {}, {"price"}, 3}) == "taken");
  CHECK(Says(Refusal(UpdateItem{"m1", {}, {""}, 3}), {"update_mask"}));
  CHECK(Says(Refusal(UpdateItem{"m1", {}, {}, -1}), {"expected_version", "-1"}));
}

TEST_CASE("changed fields are those whose values differ, on either side") {
  google::protobuf::Value list, other;
  *list.mutable_list_value()->add_values() = Text("a");
  *other.mutable_list_value()->add_values() = Text("b");
  const auto before = Fields({{"same", Number(1)}, {"gone", Number(2)}, {"list", list}, {"kind", Number(1)}});
  const auto after =
      Fields({{"same", Number(1)}, {"list", other}, {"kind", Text("1")}, {"fresh", Number(3)}});
  CHECK(ChangedFields(before, after) == std::vector<std::string>{"fresh", "gone", "kind", "list"});
  CHECK(ChangedFields(before, before).empty());
}

}  // namespace waymark::tests
