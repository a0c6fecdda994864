#include "store/rows/row_mutation.h"

#include "store/rows/json_struct.h"
#include "store/rows/row_time.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

google::protobuf::Struct Fields(const std::string& json) {
  google::protobuf::Struct fields;
  REQUIRE(ParseJsonObject(json, &fields).ok());
  return fields;
}
std::string ItemProblem(const std::string& json) {
  return std::string(ItemFromRow(Fields(json)).status().message());
}
std::string EventProblem(const std::string& json) {
  return std::string(EventFromRow(Fields(json)).status().message());
}

TEST_CASE("an item is its id and everything else") {
  auto item = ItemFromRow(Fields(R"({"id":"m1","title":"Toy Story","year":1995})"));
  REQUIRE(item.ok());
  CHECK(item->id == "m1");
  CHECK(JsonText(item->fields) == R"({"title":"Toy Story","year":1995})");
}

TEST_CASE("ids that are missing, empty, no text or too long are refused by name") {
  CHECK_THAT(ItemProblem(R"({"title":"x"})"), Catch::Contains("'id' is missing"));
  CHECK_THAT(ItemProblem(R"({"id":""})"), Catch::Contains("'id' is empty"));
  CHECK_THAT(ItemProblem(R"({"id":7})"), Catch::Contains("'id' is text, but holds '7'; write it as \"7\""));
  CHECK_THAT(ItemProblem(R"({"id":null})"), Catch::Contains("'id' is text"));
  CHECK(ItemProblem("{\"id\":\"" + std::string(512, 'x') + "\"}").empty());
  CHECK_THAT(ItemProblem("{\"id\":\"" + std::string(513, 'x') + "\"}"), Catch::Contains("513 bytes"));
  CHECK_THAT(std::string(UserFromRow(Fields("{}")).status().message()), Catch::Contains("'id' is missing"));
}

TEST_CASE("an event of the flat form is taken whole, and was known when it happened") {
  auto event = EventFromRow(Fields(
      R"({"event_id":"e1","type":"view","user_id":"u1","visitor_id":"v1","session_id":"s","item_id":"m1",
          "time":"1997-12-04T15:55:49Z","value":5,"query":"toys","surface":"home","context":{"country":"nl"},
          "request_id":"r","attribution_token":"t","position":3,"properties":{"a":[1]}})"));
  REQUIRE(event.ok());
  CHECK((event->event_id == "e1" && event->type == "view" && event->user_id == "u1" &&
         event->visitor_id == "v1"));
  REQUIRE(event->items.size() == 1);
  CHECK((event->items[0].item_id == "m1" && event->items[0].position == 3));
  CHECK(event->time == absl::FromUnixSeconds(881250949));
  CHECK(event->received_time == event->time);
  CHECK(event->value == 5);
  CHECK(JsonText(event->context) == R"({"country":"nl"})");
}

TEST_CASE("an event with several items keeps each one's particulars") {
  auto event = EventFromRow(Fields(
      R"({"type":"purchase","user_id":"u","items":[{"item_id":"a","quantity":2,"price":9.5,"currency":"EUR"},
          {"item_id":"b","position":4}]})"));
  REQUIRE(event.ok());
  REQUIRE(event->items.size() == 2);
  CHECK((event->items[0].quantity == 2 && event->items[0].price == 9.5 && event->items[0].currency == "EUR"));
  CHECK(event->items[1].position == 4);
  CHECK_FALSE(event->time.has_value());
}

TEST_CASE("an event is refused by the name of what is wrong") {
  CHECK_THAT(EventProblem(R"({"user_id":"u"})"), Catch::Contains("'type' is missing"));
  CHECK_THAT(EventProblem(R"({"type":"view"})"), Catch::Contains("'user_id' and 'visitor_id' are missing"));
  CHECK_THAT(EventProblem(R"({"type":"view","user_id":"u","usrid":1})"),
             Catch::Contains("unknown key 'usrid'") && Catch::Contains("properties.usrid"));
  CHECK_THAT(EventProblem(R"({"type":"view","user_id":"u","usrid":null})"),
             Catch::Contains("unknown key 'usrid'"));
  CHECK_THAT(EventProblem(R"({"type":"view","user_id":5})"), Catch::Contains("'user_id' is text"));
  CHECK_THAT(EventProblem(R"({"type":"view","user_id":"u","value":"5"})"),
             Catch::Contains("'value' is a number"));
  CHECK_THAT(EventProblem(R"({"type":"view","user_id":"u","item_id":"i","position":1.5})"),
             Catch::Contains("'position'"));
  CHECK_THAT(EventProblem(R"({"type":"view","user_id":"u","time":"yesterday"})"),
             Catch::Contains("'time' holds 'yesterday'"));
  CHECK_THAT(EventProblem(R"({"type":"view","user_id":"u","items":[{"item_id":"a","sku":1}]})"),
             Catch::Contains("'items[0].sku'"));
  CHECK_THAT(EventProblem(R"({"type":"view","user_id":"u","items":[{}]})"),
             Catch::Contains("'items[0].item_id' is missing"));
  CHECK_THAT(EventProblem(R"({"type":"view","user_id":"u","item_id":"a","items":[{"item_id":"a"}]})"),
             Catch::Contains("exclude each other"));
}

TEST_CASE("times are RFC 3339, epoch seconds or epoch milliseconds, as text or number") {
  const absl::Time expected = absl::FromUnixSeconds(881250949);
  for (const char* text : {"1997-12-04T15:55:49Z", "1997-12-04T16:55:49+01:00", "881250949", "881250949000",
                           "881250949.0", "1997-12-04 15:55:49", "1997-12-04T15:55:49"}) {
    CAPTURE(text);
    REQUIRE(ParseRowTime(text).ok());
    CHECK(*ParseRowTime(text) == expected);
  }
  google::protobuf::Value number;
  number.set_number_value(881250949000);
  CHECK(*ParseRowTime(number) == expected);
  CHECK(*ParseRowTime("1970-01-02") == absl::FromUnixSeconds(86400));
  CHECK(*ParseRowTime("1700000000.25") == absl::FromUnixMillis(1700000000250));
  CHECK(FormatRowTime(absl::FromUnixMillis(1700000000250)) == "2023-11-14T22:13:20.25Z");
  for (const char* text : {"", "soon", "1997-13-04T15:55:49Z", "1e18", "infinite-future", "nan"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseRowTime(text).ok());
  }
}

}  // namespace
}  // namespace waymark
