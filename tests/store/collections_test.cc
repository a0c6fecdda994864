#include "tests/store/fixture.h"

namespace waymark::tests {

TEST_CASE("collections are made once and found again, after a restart too") {
  StoreFixture f;
  CHECK(f.scope_ == Scope{1, 1});
  const Scope shop = *f.store_->CreateCollection({"default", "shop"});
  const Scope acme = *f.store_->CreateCollection({"acme", "shop"});
  CHECK(shop == Scope{1, 2});
  CHECK(acme == Scope{2, 1});
  CHECK(f.store_->CreateCollection({"acme", "shop"}).value() == acme);
  f.Reopen();
  CHECK(f.store_->FindCollection({"default", "shop"}).value() == shop);
  CHECK(f.store_->FindCollection({"acme", "shop"}).value() == acme);
  CHECK(f.store_->Collections().size() == 3);
  CHECK(absl::IsNotFound(f.store_->FindCollection({"acme", "default"}).status()));
  CHECK(f.store_->CreateCollection({"acme", "second"}).value() == Scope{2, 2});
}

TEST_CASE("names of tenants, collections and aliases are 1 to 64 of a-z 0-9 _ -") {
  StoreFixture f;
  const std::string long_name(64, 'a');
  CHECK(f.store_->CreateCollection({"a_b-9", long_name}).ok());
  for (const std::string& bad : {std::string(), std::string("Shop"), std::string("a/b"), std::string("a b"),
                                 std::string("ä"), std::string(65, 'a')}) {
    const absl::Status status = f.store_->CreateCollection({"default", bad}).status();
    CHECK(absl::IsInvalidArgument(status));
    CHECK(std::string(status.message()).find("collection is '") == 0);
    CHECK(absl::IsInvalidArgument(f.store_->CreateCollection({bad, "default"}).status()));
    CHECK(absl::IsInvalidArgument(f.store_->PutAlias("default", bad, "default")));
  }
}

TEST_CASE("two tenants and two collections see nothing of each other") {
  StoreFixture f;
  std::vector<Scope> scopes = {f.scope_, *f.store_->CreateCollection({"default", "b"}),
                               *f.store_->CreateCollection({"acme", "default"})};
  for (size_t i = 0; i < scopes.size(); ++i) {
    WriteEvent event = Event("u1", "i1", static_cast<int>(i));
    event.event_id = "e1";  // no duplicate elsewhere
    std::vector<Mutation> mutations = {PutItem{"i1", Fields({{"n", Number(static_cast<double>(i))}})}, event};
    if (i == 0) mutations.push_back(PutItem{"only-here", {}});
    auto receipt = f.store_->Write(scopes[i], mutations);
    REQUIRE(receipt.ok());
    CHECK_FALSE(receipt->results[1].duplicate);
  }
  for (size_t i = 0; i < scopes.size(); ++i) {
    CHECK(f.store_->FindItem(scopes[i], "i1") == ItemOrdinal{0});
    CHECK(f.store_->FindItem(scopes[i], "only-here").has_value() == (i == 0));
    CHECK(f.store_->GetItem(scopes[i], 0)->fields().fields().at("n").number_value() ==
          static_cast<double>(i));
    CHECK(f.store_->Counts(scopes[i]).events == 1);
    CHECK(f.store_->ReadHistory(scopes[i], 1, {}).size() == 1);
    int items = 0;
    CHECK(f.store_->ForEachItem(scopes[i], 0, [&](auto, const auto&) { return ++items, true; }).ok());
    CHECK(items == (i == 0 ? 2 : 1));
  }
  REQUIRE(f.store_->Write(scopes[1], {DeleteUser{"u1"}}).ok());
  CHECK(f.store_->ReadHistory(scopes[0], 1, {}).size() == 1);
  CHECK(f.store_->ReadHistory(scopes[1], 1, {}).empty());
}

TEST_CASE("an alias points at a collection, is swapped, and is removed") {
  StoreFixture f;
  const Scope a = *f.store_->CreateCollection({"default", "a"}),
              b = *f.store_->CreateCollection({"default", "b"});
  REQUIRE(f.store_->PutAlias("default", "live", "a").ok());
  CHECK(f.store_->FindCollection({"default", "live"}).value() == a);
  CHECK(f.store_->CreateCollection({"default", "live"}).value() == a);  // finds it
  REQUIRE(f.store_->PutAlias("default", "live", "b").ok());
  f.Reopen();
  CHECK(f.store_->FindCollection({"default", "live"}).value() == b);
  REQUIRE(f.store_->Aliases().size() == 1);
  CHECK(f.store_->Aliases()[0].collection() == "b");
  CHECK(absl::IsNotFound(f.store_->FindCollection({"acme", "live"}).status()));
  CHECK(absl::IsNotFound(f.store_->PutAlias("default", "x", "no-such")));
  CHECK(absl::IsAlreadyExists(f.store_->PutAlias("default", "a", "b")));
  REQUIRE(f.store_->DeleteAlias("default", "live").ok());
  CHECK(absl::IsNotFound(f.store_->FindCollection({"default", "live"}).status()));
  CHECK(absl::IsNotFound(f.store_->DeleteAlias("default", "live")));
}

TEST_CASE("a collection's schema and event types are replaced; its name and numbers stay") {
  StoreFixture f;
  storage::CollectionRecord record = *f.store_->GetCollection(f.scope_);
  record.set_tenant("other");
  record.set_collection_number(77);
  record.mutable_item_schema()->set_language("english");
  auto* type = record.add_event_types();
  type->set_name("bookmark");
  type->set_code(100);
  type->set_weight(1.5);
  type->set_sign(1);
  REQUIRE(f.store_->PutCollection(f.scope_, record).ok());
  f.Reopen();
  record = *f.store_->GetCollection(f.scope_);
  CHECK(record.tenant() == "default");
  CHECK(record.collection_number() == 1);
  CHECK(record.item_schema().language() == "english");
  CHECK(f.store_->GetEventTypes(f.scope_).Find("bookmark")->code == 100);
  f.Write({Event("u1", "i", 0, "bookmark")});
  CHECK(f.store_->GetEvent(f.scope_, 1)->type() == 100);

  record.mutable_event_types(0)->set_code(11);
  CHECK(absl::IsInvalidArgument(f.store_->PutCollection(f.scope_, record)));
  record.mutable_event_types(0)->set_code(100);
  record.mutable_event_types(0)->set_sign(2);
  CHECK(absl::IsInvalidArgument(f.store_->PutCollection(f.scope_, record)));
  record.mutable_event_types(0)->set_sign(-1);
  *record.add_event_types() = record.event_types(0);
  record.mutable_event_types(1)->set_name("second");
  CHECK(absl::IsInvalidArgument(f.store_->PutCollection(f.scope_, record)));
  CHECK(absl::IsNotFound(f.store_->PutCollection({5, 5}, {})));
}

}  // namespace waymark::tests
