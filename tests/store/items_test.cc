#include <map>

#include "tests/store/fixture.h"

namespace waymark::tests {

TEST_CASE("an item that was put is read back, with version 1 and the clock's time") {
  StoreFixture f;
  CHECK(f.WriteOne(PutItem{"m1", Fields({{"title", Text("Toy Story")}, {"year", Number(1995)}})}).version ==
        1);
  const auto item = f.store_->FindItem(f.scope_, "m1");
  REQUIRE(item.has_value());
  CHECK(*item == 0);  // the first ordinal
  auto record = f.store_->GetItem(f.scope_, *item);
  REQUIRE(record.ok());
  CHECK(record->id() == "m1");
  CHECK(record->version() == 1);
  CHECK(record->create_time_us() == absl::ToUnixMicros(kNow));
  CHECK(record->fields().fields().at("title").string_value() == "Toy Story");
  CHECK(record->fields().fields().at("year").number_value() == 1995);
  CHECK(f.store_->ItemId(f.scope_, *item) == "m1");
  CHECK(f.store_->ItemEnd(f.scope_) == 1);
  CHECK(f.store_->Counts(f.scope_).items == 1);
  CHECK_FALSE(f.store_->FindItem(f.scope_, "m2").has_value());
  CHECK(absl::IsNotFound(f.store_->GetItem(f.scope_, 7).status()));
  CHECK(f.store_->ItemId(f.scope_, 7).empty());
}

TEST_CASE("a field nested as deep as is taken is read back") {
  StoreFixture f;
  google::protobuf::Value value = Number(1);
  for (int i = 0; i < 31; ++i) {
    google::protobuf::Value outer;
    (*outer.mutable_struct_value()->mutable_fields())["f"] = value;
    value = outer;
  }
  f.Write({PutItem{"m1", Fields({{"deep", value}})}});
  f.Reopen();
  REQUIRE(f.store_->GetItem(f.scope_, 0).ok());
  CHECK(f.ReadLog().size() == 1);
  CHECK(f.WriteOne(UpdateItem{"m1", Fields({{"x", Number(1)}}), {}, 0}).version == 2);
}

TEST_CASE("two puts of one id in one write both succeed, with growing versions") {
  StoreFixture f;
  const WriteReceipt receipt =
      f.Write({PutItem{"m1", Fields({{"a", Number(1)}})}, PutItem{"m1", Fields({{"a", Number(2)}})},
               UpdateItem{"m1", Fields({{"b", Number(3)}}), {}, 2}});
  CHECK(receipt.results[0].version == 1);
  CHECK(receipt.results[1].version == 2);
  CHECK(receipt.results[2].version == 3);
  auto record = f.store_->GetItem(f.scope_, 0);
  REQUIRE(record.ok());
  CHECK(record->fields().fields().at("a").number_value() == 2);
  CHECK(record->fields().fields().at("b").number_value() == 3);
  CHECK(f.store_->Counts(f.scope_).items == 1);
  CHECK(f.store_->ItemEnd(f.scope_) == 1);
}

TEST_CASE("an update takes its paths, removes those it lacks, and leaves the rest") {
  StoreFixture f;
  f.Write({PutItem{"m1", Fields({{"a", Number(1)}, {"b", Number(2)}, {"c", Number(3)}})}});
  f.Write({UpdateItem{"m1", Fields({{"a", Number(9)}, {"c", Number(9)}}), {"a", "b"}, 0}});
  auto fields = f.store_->GetItem(f.scope_, 0)->fields().fields();
  CHECK(fields.size() == 2);
  CHECK(fields.at("a").number_value() == 9);
  CHECK(fields.at("c").number_value() == 3);
  // Without paths: all that it has.
  f.Write({UpdateItem{"m1", Fields({{"c", Number(4)}, {"d", Number(5)}}), {}, 0}});
  fields = f.store_->GetItem(f.scope_, 0)->fields().fields();
  CHECK(fields.size() == 3);
  CHECK(fields.at("c").number_value() == 4);
}

TEST_CASE("a path with dots leads into objects, unless it is a name itself") {
  StoreFixture f;
  const auto object = [](std::map<std::string, double> values) {
    google::protobuf::Value value;
    for (const auto& [name, number] : values) {
      (*value.mutable_struct_value()->mutable_fields())[name].set_number_value(number);
    }
    return value;
  };
  f.Write({PutItem{"m1",
                   Fields({{"size", object({{"w", 1}, {"h", 2}})}, {"a.b", Number(3)}, {"n", Number(4)}})}});
  f.Write({UpdateItem{
      "m1",
      Fields({{"size", object({{"w", 10}, {"d", 30}})}, {"a.b", Number(5)}, {"n", object({{"x", 6}})}}),
      {"size.w", "size.h", "a.b", "n.x", "none.deep", "size.none.deep"},
      0}});
  const auto fields = f.store_->GetItem(f.scope_, 0)->fields().fields();
  CHECK(fields.size() == 3);
  CHECK(fields.at("a.b").number_value() == 5);
  const auto& size = fields.at("size").struct_value().fields();
  CHECK(size.size() == 1);  // w is set, h removed, d not named
  CHECK(size.at("w").number_value() == 10);
  CHECK(fields.at("n").struct_value().fields().at("x").number_value() == 6);
}

TEST_CASE("an update of what is missing or has moved on is refused") {
  StoreFixture f;
  CHECK(absl::IsNotFound(f.WriteOne(UpdateItem{"m1", {}, {}, 0}).status));
  CHECK(absl::IsNotFound(f.WriteOne(DeleteItem{"m1"}).status));
  CHECK(f.store_->ItemEnd(f.scope_) == 0);  // a refused update gives out nothing
  CHECK(f.store_->End() == 0);
  f.Write({PutItem{"m1", {}}, PutItem{"m1", {}}});
  const MutationResult result = f.WriteOne(UpdateItem{"m1", Fields({{"a", Number(1)}}), {}, 1});
  CHECK(absl::IsAborted(result.status));
  CHECK(result.version == 2);
  CHECK(std::string(result.status.message()).find("version 2") != std::string::npos);
  CHECK(f.store_->GetItem(f.scope_, 0)->fields().fields().empty());
}

TEST_CASE("an update that makes the record too large is refused") {
  StoreFixture f;
  f.Write({PutItem{"m1", Fields({{"a", Text(std::string(700000, 'x'))}})}});
  CHECK(absl::IsInvalidArgument(
      f.WriteOne(UpdateItem{"m1", Fields({{"b", Text(std::string(700000, 'x'))}}), {}, 0}).status));
  CHECK(f.store_->GetItem(f.scope_, 0)->version() == 1);
}

TEST_CASE("a deleted item keeps its ordinal, and comes back under it") {
  StoreFixture f;
  f.Write({PutItem{"m1", Fields({{"a", Number(1)}})}, PutItem{"m2", {}}});
  CHECK(f.WriteOne(DeleteItem{"m1"}).version == 2);
  CHECK(f.store_->FindItem(f.scope_, "m1") == ItemOrdinal{0});
  CHECK(f.store_->ItemId(f.scope_, 0) == "m1");
  CHECK(absl::IsNotFound(f.store_->GetItem(f.scope_, 0).status()));
  const auto records = f.store_->GetItems(f.scope_, std::vector<ItemOrdinal>{1, 0, 9, 1});
  REQUIRE(records.size() == 4);
  CHECK(records[0]->id() == "m2");
  CHECK_FALSE(records[1].has_value());
  CHECK_FALSE(records[2].has_value());
  CHECK(records[3]->id() == "m2");
  CHECK(f.store_->Counts(f.scope_).items == 1);
  CHECK(absl::IsNotFound(f.WriteOne(DeleteItem{"m1"}).status));
  CHECK(f.WriteOne(PutItem{"m1", Fields({{"b", Number(1)}})}).version == 3);
  CHECK(f.store_->GetItem(f.scope_, 0)->fields().fields().size() == 1);
  CHECK(f.store_->Counts(f.scope_).items == 2);
  CHECK(f.store_->ItemEnd(f.scope_) == 2);
}

TEST_CASE("the log tells what became of an item, and which fields changed") {
  StoreFixture f;
  f.Write({PutItem{"m1", Fields({{"a", Number(1)}, {"b", Number(1)}})}});
  f.Write({PutItem{"m1", Fields({{"b", Number(2)}, {"c", Number(1)}})}});
  f.Write({UpdateItem{"m1", Fields({{"b", Number(2)}}), {}, 0}});
  f.Write({DeleteItem{"m1"}});
  f.Write({PutItem{"m1", Fields({{"b", Number(2)}})}});
  const std::vector<Change> log = f.ReadLog();
  REQUIRE(log.size() == 5);
  for (size_t i = 0; i < log.size(); ++i) {
    CHECK(log[i].offset == i + 1);
    CHECK(log[i].entry.item().ordinal() == 0);
    CHECK(log[i].entry.item().record().version() == static_cast<int64_t>(i + 1));
    CHECK(log[i].entry.item().all() == (i == 0 || i >= 3));
  }
  const auto& changed = log[1].entry.item().changed_fields();
  CHECK(std::vector<std::string>(changed.begin(), changed.end()) == std::vector<std::string>{"a", "b", "c"});
  CHECK(log[2].entry.item().changed_fields().empty());
  CHECK(log[3].entry.item().record().deleted());
}

TEST_CASE("live items are visited in the order of their ordinals, from the first that is asked for") {
  StoreFixture f;
  for (int i = 0; i < 300; ++i) f.Write({PutItem{absl::StrCat("m", i), {}}});
  f.Write({DeleteItem{"m256"}});
  std::vector<ItemOrdinal> seen;
  REQUIRE(f.store_
              ->ForEachItem(f.scope_, 254,
                            [&](ItemOrdinal item, const storage::ItemRecord& record) {
                              CHECK(record.id() == absl::StrCat("m", item));
                              seen.push_back(item);
                              return seen.size() < 4;
                            })
              .ok());
  CHECK(seen == std::vector<ItemOrdinal>{254, 255, 257, 258});
}

TEST_CASE("invalid mutations are left out, and the valid ones of the same write are kept") {
  StoreFixture f;
  auto receipt = f.store_->Write(f.scope_, {PutItem{"m1", {}}, PutItem{"", {}}, PutItem{"m2", {}}});
  REQUIRE(receipt.ok());
  CHECK(receipt->results[0].status.ok());
  CHECK(absl::IsInvalidArgument(receipt->results[1].status));
  CHECK(receipt->results[2].status.ok());
  CHECK(f.store_->Counts(f.scope_).items == 2);
  CHECK(receipt->position.parts(0).offset() == 2);
  auto none = f.store_->Write(f.scope_, {PutItem{"", {}}});
  REQUIRE(none.ok());
  CHECK(Covers(none->position, receipt->position));
  CHECK(f.store_->Write(f.scope_, {}).ok());
  CHECK(absl::IsNotFound(f.store_->Write({9, 9}, {PutItem{"m1", {}}}).status()));
}

}  // namespace waymark::tests
