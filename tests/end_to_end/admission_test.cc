// What a found schema grows by, and what a declared one lets in.
#include <atomic>
#include <thread>

#include "tests/end_to_end/open_engine.h"

namespace waymark {
namespace {

using tests::MustWrite;
using tests::OpenEngine;

PutItem Item(const std::string& id,
             const std::vector<std::pair<std::string, google::protobuf::Value>>& fields) {
  PutItem item;
  item.id = id;
  for (const auto& [name, value] : fields) (*item.fields.mutable_fields())[name] = value;
  return item;
}
google::protobuf::Value Text(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  return value;
}
google::protobuf::Value Number(double number) {
  google::protobuf::Value value;
  value.set_number_value(number);
  return value;
}

bool Knows(Collection* shop, const std::string& field) {
  return shop->catalog().schema()->Find(field) != nullptr;
}

TEST_CASE("an item that is refused leaves no trace in a schema that is found from the data") {
  OpenEngine engine;
  Collection* shop = engine.In();
  MustWrite(shop, {Item("a", {{"title", Text("Alpha")}, {"year", Number(1990)}})});
  const uint64_t revision = shop->catalog().schema()->record().revision();

  UpdateItem missing{.id = "nobody"}, stale{.id = "a", .fields = {}, .paths = {}, .expected_version = 7};
  (*missing.fields.mutable_fields())["by_missing"] = Number(1);
  (*stale.fields.mutable_fields())["by_stale"] = Number(1);
  auto receipt = shop->Write({
      Item("wrong type", {{"year", Text("MCMXC")}, {"by_type", Number(1)}}),
      Item(std::string(513, 'x'), {{"by_id", Number(1)}}),
      Item("beyond", {{"by_number", Number(9007199254740994.0)}}),
      Item("text", {{"by_text", Text("\xFF")}}),
      missing,
      stale,
  });
  REQUIRE(receipt.ok());
  for (const MutationResult& result : receipt->results) CHECK_FALSE(result.status.ok());
  for (const char* field : {"by_type", "by_id", "by_number", "by_text", "by_missing", "by_stale"}) {
    INFO(field);
    CHECK_FALSE(Knows(shop, field));
  }
  CHECK(shop->catalog().schema()->record().revision() == revision);

  // The good ones of a batch let it grow all the same, also after a bad one.
  receipt = shop->Write({Item("bad", {{"year", Text("MCMXC")}, {"dropped", Number(1)}}),
                         Item("good", {{"price", Number(2)}}), Item("then", {{"price", Text("two")}})});
  REQUIRE(receipt.ok());
  CHECK_FALSE(receipt->results[0].status.ok());
  CHECK(receipt->results[1].status.ok());
  CHECK(Knows(shop, "price"));
  CHECK_FALSE(Knows(shop, "dropped"));
}

TEST_CASE("an update lets the schema grow by the fields that it takes, not by those that it leaves") {
  OpenEngine engine;
  Collection* shop = engine.In();
  MustWrite(shop, {Item("a", {{"title", Text("Alpha")}})});
  UpdateItem update{.id = "a", .fields = {}, .paths = {"taken"}};
  (*update.fields.mutable_fields())["taken"] = Number(1);
  (*update.fields.mutable_fields())["left"] = Number(1);
  MustWrite(shop, {update});
  CHECK(Knows(shop, "taken"));
  CHECK_FALSE(Knows(shop, "left"));
}

TEST_CASE("no write slips past a schema that is declared meanwhile, and none undoes it") {
  for (int round = 0; round < 20; ++round) {
    OpenEngine engine;
    Collection* shop = engine.In();
    MustWrite(shop, {Item("a", {{"title", Text("Alpha")}})});
    std::atomic<bool> stop{false};
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 3; ++writer) {
      writers.emplace_back([&, writer] {
        for (int i = 0; !stop; ++i) {
          const std::string name = std::to_string(writer) + "-" + std::to_string(i);
          shop->Write({Item(name, {{"price", Text("dear")}, {"own" + name.substr(0, 3), Number(1)}})})
              .IgnoreError();
        }
      });
    }
    storage::SchemaRecord declared;
    declared.set_language("english");
    auto* title = declared.add_fields();
    title->set_name("title");
    title->set_type(storage::FieldRecord::TEXT);
    auto* price = declared.add_fields();
    price->set_name("price");
    price->set_type(storage::FieldRecord::FLOATING);
    // Refused as soon as a "dear" price is there; then nothing may have changed.
    const absl::Status status = shop->DeclareSchema(declared);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop = true;
    for (std::thread& writer : writers) writer.join();

    const auto schema = shop->catalog().schema();
    CHECK(schema->record().declared() == status.ok());
    const auto stored = engine->store().GetCollection(shop->scope());
    REQUIRE(stored.ok());
    CHECK(stored->item_schema().declared() == status.ok());
    REQUIRE(engine->store()
                .ForEachItem(shop->scope(), 0,
                             [&](ItemOrdinal, const storage::ItemRecord& item) {
                               CHECK(schema->Check(item.fields()).ok());
                               return true;
                             })
                .ok());
  }
}

PutUser User(const std::string& id, const std::string& field, const google::protobuf::Value& value) {
  PutUser user;
  user.id = id;
  (*user.fields.mutable_fields())[field] = value;
  return user;
}

TEST_CASE("attributes of users are typed by the first that have them, also after a restart") {
  OpenEngine engine;
  MustWrite(engine.In(), {User("u1", "age", Number(30))});
  auto receipt = engine.In()->Write({User("u2", "age", Text("old")), User("u3", "age", Number(41))});
  REQUIRE(receipt.ok());
  CHECK(absl::IsInvalidArgument(receipt->results[0].status));
  CHECK_THAT(std::string(receipt->results[0].status.message()), Catch::Contains("'age'"));
  CHECK(receipt->results[1].status.ok());
  CHECK_FALSE(engine->store().FindUser(engine.In()->scope(), "u2").has_value());
  // Items have a schema of their own.
  CHECK(engine.In()->catalog().schema()->Find("age") == nullptr);
  MustWrite(engine.In(), {Item("a", {{"age", Text("bronze age")}})});
  engine.Reopen();
  receipt = engine.In()->Write({User("u2", "age", Text("old"))});
  REQUIRE(receipt.ok());
  CHECK(absl::IsInvalidArgument(receipt->results[0].status));
}

TEST_CASE("a schema of users that is declared must fit those that are there, and holds for those to come") {
  OpenEngine engine;
  Collection* shop = engine.In();
  MustWrite(shop, {User("u1", "age", Number(30)), User("u2", "city", Text("Utrecht"))});
  storage::SchemaRecord record;
  auto* age = record.add_fields();
  age->set_name("age");
  age->set_type(storage::FieldRecord::BOOLEAN);
  const absl::Status misfit = shop->DeclareUserSchema(record);
  CHECK(absl::IsFailedPrecondition(misfit));
  CHECK_THAT(std::string(misfit.message()), Catch::Contains("u1"));
  CHECK(shop->user_schema()->Find("city") != nullptr);
  age->set_type(storage::FieldRecord::INTEGER);
  REQUIRE(shop->DeclareUserSchema(record).ok());
  auto receipt = shop->Write({User("u3", "age", Number(30.5))});
  REQUIRE(receipt.ok());
  CHECK_FALSE(receipt->results[0].status.ok());
  MustWrite(shop, {User("u3", "age", Number(31))});
  CHECK(shop->user_schema()->record().declared());
}

}  // namespace
}  // namespace waymark
