#include <set>

#include "tests/store/fixture.h"

namespace waymark::tests {

TEST_CASE("an event is read back as it was written, with ids as numbers") {
  StoreFixture f;
  WriteEvent event = Event("u1", "i1", 5, "purchase");
  event.event_id = "e1";
  event.visitor_id = "v1";
  event.session_id = "s";
  event.items[0] = {.item_id = "i1", .position = 3, .quantity = 2, .price = 9.5, .currency = "EUR"};
  event.items.push_back({.item_id = "i2"});
  event.value = 19.0;
  event.query = "toys";
  event.surface = "home";
  event.request_id = "r";
  event.attribution_token = "t";
  event.context = Fields({{"country", Text("nl")}});
  event.properties = Fields({{"coupon", Text("x")}});
  const WriteReceipt receipt = f.Write({event});
  CHECK(receipt.results[0].event_id == "e1");
  CHECK_FALSE(receipt.results[0].duplicate);
  auto record = f.store_->GetEvent(f.scope_, receipt.position.parts(0).offset());
  REQUIRE(record.ok());
  CHECK(record->event_id() == "e1");
  CHECK(record->type() == event_code::kPurchase);
  CHECK(record->user() == f.User("u1"));
  CHECK(record->visitor() == f.VisitorNumber("v1"));
  CHECK(record->session_id() == "s");
  REQUIRE(record->items_size() == 2);
  CHECK(f.store_->ItemId(f.scope_, record->items(0).item()) == "i1");
  CHECK(f.store_->ItemId(f.scope_, record->items(1).item()) == "i2");
  CHECK(record->items(0).position() == 3);
  CHECK(record->items(0).quantity() == 2);
  CHECK(record->items(0).price() == 9.5);
  CHECK(record->items(0).currency() == "EUR");
  CHECK(absl::FromUnixMicros(record->time_us()) == *event.time);
  CHECK(absl::FromUnixMicros(record->received_time_us()) == kNow);
  CHECK(record->value() == 19.0);
  CHECK(record->query() == "toys");
  CHECK(record->surface() == "home");
  CHECK(record->request_id() == "r");
  CHECK(record->attribution_token() == "t");
  CHECK(record->context().fields().at("country").string_value() == "nl");
  CHECK(record->properties().fields().at("coupon").string_value() == "x");
  CHECK(absl::IsNotFound(f.store_->GetEvent(f.scope_, 99).status()));
}

TEST_CASE("an import keeps its received time; an event without a time gets the clock's") {
  StoreFixture f;
  WriteEvent imported = Event("u1", "i", 7);
  imported.received_time = imported.time;
  WriteEvent live = Event("u1", "i");
  live.time.reset();
  f.Write({imported, live});
  CHECK(f.store_->GetEvent(f.scope_, 1)->received_time_us() == f.store_->GetEvent(f.scope_, 1)->time_us());
  CHECK(absl::FromUnixMicros(f.store_->GetEvent(f.scope_, 2)->time_us()) == kNow);
}

TEST_CASE("an event id is taken once: in a write, across writes and after a restart") {
  StoreFixture f;
  WriteEvent event = Event("u1", "i");
  event.event_id = "e1";
  const WriteReceipt first = f.Write({event, event});
  CHECK_FALSE(first.results[0].duplicate);
  CHECK(first.results[1].duplicate);
  const WriteReceipt second = f.Write({event});
  CHECK(second.results[0].duplicate);
  CHECK(second.results[0].event_id == "e1");
  CHECK(Covers(second.position, first.position));
  f.Reopen();
  CHECK(f.WriteOne(event).duplicate);
  CHECK(f.store_->Counts(f.scope_).events == 1);
  CHECK(f.store_->End() == 1);
  CHECK(f.HistoryOf(f.User("u1")).size() == 1);
}

TEST_CASE("made event ids are all different, across restarts too") {
  StoreFixture f;
  std::set<std::string> ids;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) ids.insert(f.WriteOne(Event("u1", "i")).event_id);
    f.Reopen();
  }
  CHECK(ids.size() == 300);
  CHECK(ids.begin()->size() == 32);
}

TEST_CASE("an item that only events have named has an ordinal, an id and no record") {
  StoreFixture f;
  f.Write({Event("u1", "ghost")});
  const auto item = f.store_->FindItem(f.scope_, "ghost");
  REQUIRE(item.has_value());
  CHECK(f.store_->ItemId(f.scope_, *item) == "ghost");
  CHECK(absl::IsNotFound(f.store_->GetItem(f.scope_, *item).status()));
  CHECK_FALSE(f.store_->GetItems(f.scope_, {&*item, 1})[0].has_value());
  CHECK(f.store_->Counts(f.scope_).items == 0);
  CHECK(f.store_->ItemEnd(f.scope_) == 1);
  CHECK(absl::IsNotFound(f.WriteOne(UpdateItem{"ghost", {}, {}, 0}).status));
  // Put later, it keeps the ordinal.
  f.Write({PutItem{"other", {}}, PutItem{"ghost", {}}});
  CHECK(f.store_->FindItem(f.scope_, "ghost") == item);
  CHECK(f.store_->GetItem(f.scope_, *item)->version() == 1);
  const std::vector<ItemOrdinal> both = {1, 0};
  CHECK(f.store_->ItemIds(f.scope_, both) == std::vector<std::string>{"other", "ghost"});
}

TEST_CASE("mutations of one write that name the same new ids agree on them") {
  StoreFixture f;
  f.Write({Event("u1", "x"), Event("u1", "x"), PutItem{"x", {}}, PutUser{"u1", {}}, Event("u2", "x")});
  CHECK(f.store_->ItemEnd(f.scope_) == 1);
  CHECK(f.store_->Counts(f.scope_).users == 2);
  CHECK(f.store_->Counts(f.scope_).events == 3);
  const auto log = f.ReadLog();
  REQUIRE(log.size() == 5);
  CHECK(log[0].entry.event().items(0).item() == 0);
  CHECK(log[1].entry.event().items(0).item() == 0);
  CHECK(log[2].entry.item().ordinal() == 0);
  CHECK(log[3].entry.user().user() == log[0].entry.event().user());
}

TEST_CASE("reading the log stops at its limit, at an error, and tells how far it came") {
  StoreFixture f;
  const Scope other = *f.store_->CreateCollection({"default", "other"});
  f.Write({PutItem{"a", {}}});                               // 1
  REQUIRE(f.store_->Write(other, {PutItem{"b", {}}}).ok());  // 2
  f.Write({PutItem{"c", {}}});                               // 3
  REQUIRE(f.store_->Write(other, {PutItem{"d", {}}}).ok());  // 4
  std::vector<LogOffset> seen;
  const auto note = [&](const Change& change) {
    seen.push_back(change.offset);
    return absl::OkStatus();
  };
  CHECK(f.store_->Read(f.scope_, 0, 1, note).value() == 1);
  CHECK(seen == std::vector<LogOffset>{1});
  // All read: the other collection's changes lie behind too.
  CHECK(f.store_->Read(f.scope_, 1, 10, note).value() == 4);
  CHECK(seen == std::vector<LogOffset>{1, 3});
  CHECK(f.store_->Read(f.scope_, 4, 10, note).value() == 4);
  CHECK(f.store_->Read(other, 0, 10, note).value() == 4);
  CHECK(seen == std::vector<LogOffset>{1, 3, 2, 4});
  CHECK(absl::IsAborted(
      f.store_->Read(f.scope_, 0, 10, [](const Change&) { return absl::AbortedError("x"); }).status()));
  CHECK(f.store_->EndPosition().parts(0).offset() == 4);
}

TEST_CASE("listeners hear each change once, in log order, before the writer is answered") {
  StoreFixture f;
  std::vector<std::pair<Scope, LogOffset>> heard;
  f.store_->AddListener([&](Scope scope, absl::Span<const Change> changes) {
    for (const Change& change : changes) heard.emplace_back(scope, change.offset);
    CHECK(f.store_->End() >= changes.back().offset);
    CHECK(f.store_->FindItem(scope, "a").has_value());  // reads see it already
  });
  const Scope other = *f.store_->CreateCollection({"default", "other"});
  f.Write({PutItem{"a", {}}, Event("u1", "a")});
  CHECK(heard.size() == 2);
  REQUIRE(f.store_->Write(other, {PutItem{"a", {}}}).ok());
  CHECK(heard == std::vector<std::pair<Scope, LogOffset>>{{f.scope_, 1}, {f.scope_, 2}, {other, 3}});
}

TEST_CASE("nothing is received later than it was written, whatever an import says") {
  StoreFixture f;
  WriteEvent ahead = Event("u1", "i");
  ahead.time = kNow + absl::Hours(20);
  ahead.received_time = ahead.time;
  f.Write({ahead});
  CHECK(absl::FromUnixMicros(f.store_->GetEvent(f.scope_, 1)->time_us()) == kNow + absl::Hours(20));
  CHECK(absl::FromUnixMicros(f.store_->GetEvent(f.scope_, 1)->received_time_us()) == kNow);
}

TEST_CASE(
    "readers of the log are shown the kinds of changes that they ask for, and come as far as the others") {
  StoreFixture f;
  f.Write({PutItem{"i1", Fields({{"title", Text("a")}})}, PutUser{"u1", Fields({{"town", Text("b")}})},
           Event("u1", "i1"), DeleteItem{"i1"}, DeleteUser{"u1"}});
  // Of the log in full: an item, a user, an event, an item, the user's record and erasure.
  const auto seen = [&](size_t limit, const ChangeKinds& kinds) {
    std::vector<LogOffset> offsets;
    auto end = f.store_->Read(
        f.scope_, 0, limit,
        [&](const Change& change) {
          offsets.push_back(change.offset);
          CHECK((kinds.items || !change.entry.has_item()));
          CHECK((kinds.users || !change.entry.has_user()));
          CHECK((kinds.events || !change.entry.has_event()));
          CHECK((kinds.erasures || !change.entry.has_erasure()));
          return absl::OkStatus();
        },
        kinds);
    REQUIRE(end.ok());
    return std::pair(offsets, *end);
  };
  const LogOffset end = f.store_->End();
  CHECK(seen(100, {}).first.size() == end);
  CHECK(seen(100, kItemChanges) == std::pair(std::vector<LogOffset>{1, 4}, end));
  CHECK(seen(100, {.items = false, .users = false, .erasures = false}) ==
        std::pair(std::vector<LogOffset>{3}, end));
  CHECK(seen(2, {.items = false, .users = false, .erasures = false}) ==
        std::pair(std::vector<LogOffset>{}, LogOffset{2}));
}

}  // namespace waymark::tests
