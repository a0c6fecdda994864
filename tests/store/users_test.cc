#include "tests/store/fixture.h"

namespace waymark::tests {

TEST_CASE("a user's attributes are put, updated and read") {
  StoreFixture f;
  CHECK(f.WriteOne(PutUser{"u1", Fields({{"age", Number(40)}, {"job", Text("writer")}})}).version == 1);
  CHECK(f.WriteOne(UpdateUser{"u1", Fields({{"age", Number(41)}}), {"age", "job"}, 1}).version == 2);
  const UserNumber user = f.User("u1");
  CHECK(user == 1);
  auto record = f.store_->GetUser(f.scope_, user);
  REQUIRE(record.ok());
  CHECK(record->id() == "u1");
  CHECK_FALSE(record->visitor());
  CHECK(record->version() == 2);
  CHECK(record->fields().fields().size() == 1);
  CHECK(record->fields().fields().at("age").number_value() == 41);
  CHECK(absl::IsAborted(f.WriteOne(UpdateUser{"u1", {}, {}, 1}).status));
  CHECK(absl::IsNotFound(f.WriteOne(UpdateUser{"u2", {}, {}, 0}).status));
  CHECK(absl::IsNotFound(f.store_->GetUser(f.scope_, 2).status()));
  const auto log = f.ReadLog();
  REQUIRE(log.size() == 2);
  CHECK(log[1].entry.user().user() == user);
  CHECK(log[1].entry.user().record().version() == 2);
}

TEST_CASE("a user and a visitor of the same text are two") {
  StoreFixture f;
  WriteEvent by_user = Event("u1", "i"), by_visitor = Event("u1", "i");
  by_visitor.user_id.clear();
  by_visitor.visitor_id = "u1";
  f.Write({by_user, by_visitor});
  CHECK(f.User("u1") == 1);
  CHECK(f.VisitorNumber("u1") == 2);
  CHECK(f.store_->GetUser(f.scope_, 2)->visitor());
  CHECK(f.store_->Counts(f.scope_).users == 2);
  CHECK_FALSE(f.store_->FindVisitor(f.scope_, "nobody").has_value());
}

TEST_CASE("a user that only events have named has a record, which an update finds") {
  StoreFixture f;
  f.Write({Event("u1", "i")});
  CHECK(f.store_->GetUser(f.scope_, f.User("u1"))->version() == 0);
  CHECK(f.WriteOne(UpdateUser{"u1", Fields({{"a", Number(1)}}), {}, 0}).version == 1);
}

TEST_CASE("identify joins a visitor's past and future to the user") {
  StoreFixture f;
  f.Write({Event("v1", "before", 10), Event("u1", "own", 20)});
  CHECK(f.store_->Counts(f.scope_).users == 2);
  f.Write({Identify("u1", "v1", 30)});
  CHECK(f.store_->Counts(f.scope_).users == 1);
  f.Write({Event("v1", "after", 40)});
  const UserNumber user = f.User("u1"), visitor = f.VisitorNumber("v1");
  CHECK(f.HistoryOf(user) == std::vector<std::string>{"after", "own", "before"});
  CHECK(f.HistoryOf(visitor) == f.HistoryOf(user));  // reading the visitor reads the user
  CHECK(f.store_->GetUser(f.scope_, visitor)->joined_to() == user);
  const auto record = *f.store_->GetUser(f.scope_, user);
  REQUIRE(record.joined_visitors_size() == 1);
  CHECK(record.joined_visitors(0) == visitor);
  // In the log, a joined visitor's event is the user's.
  const auto event = f.store_->GetEvent(f.scope_, f.store_->End());
  CHECK(event->user() == user);
  CHECK(event->visitor() == visitor);
  f.Write({Identify("u1", "v1", 50)});  // again: nothing new
  CHECK(f.store_->GetUser(f.scope_, user)->joined_visitors_size() == 1);
}

TEST_CASE("identify in the same write as the visitor's events joins them too") {
  StoreFixture f;
  f.Write({Event("v1", "stored", 1)});
  f.Write(
      {Event("v1", "a", 10), Event("v1", "", 11, "search"), Identify("u1", "v1", 12), Event("v1", "b", 13)});
  CHECK(f.HistoryOf(f.User("u1")) == std::vector<std::string>{"b", "a", "stored"});
  f.Reopen();
  CHECK(f.HistoryOf(f.VisitorNumber("v1")) == std::vector<std::string>{"b", "a", "stored"});
}

TEST_CASE("a visitor that is joined again leaves its past with the first user") {
  StoreFixture f;
  f.Write({Event("v1", "past", 1), Identify("u1", "v1", 2), Event("v1", "between", 3)});
  f.Write({Identify("u2", "v1", 4), Event("v1", "later", 5)});
  CHECK(f.HistoryOf(f.User("u1")) == std::vector<std::string>{"between", "past"});
  CHECK(f.HistoryOf(f.User("u2")) == std::vector<std::string>{"later"});
  CHECK(f.HistoryOf(f.VisitorNumber("v1")) == std::vector<std::string>{"later"});
  CHECK(f.store_->GetUser(f.scope_, f.User("u1"))->joined_visitors_size() == 0);
  CHECK(f.store_->GetUser(f.scope_, f.User("u2"))->joined_visitors_size() == 1);
}

TEST_CASE("an event with both ids is the user's, and joins nobody") {
  StoreFixture f;
  WriteEvent both = Event("u1", "i", 1);
  both.visitor_id = "v1";
  f.Write({both, Event("v1", "j", 2)});
  CHECK(f.HistoryOf(f.User("u1")) == std::vector<std::string>{"i"});
  CHECK(f.HistoryOf(f.VisitorNumber("v1")) == std::vector<std::string>{"j"});
}

TEST_CASE("users are visited in the order of their numbers") {
  StoreFixture f;
  f.Write({PutUser{"u1", {}}, Event("v1", "i"), PutUser{"u2", {}}});
  std::vector<std::string> seen;
  REQUIRE(f.store_
              ->ForEachUser(f.scope_, 2,
                            [&](UserNumber, const storage::UserRecord& record) {
                              seen.push_back(record.id());
                              return true;
                            })
              .ok());
  CHECK(seen == std::vector<std::string>{"v1", "u2"});
}

}  // namespace waymark::tests
