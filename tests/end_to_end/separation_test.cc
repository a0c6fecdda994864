#include "tests/end_to_end/open_engine.h"

namespace waymark::tests {
namespace {

TEST_CASE("tenants and collections of one folder never see each other") {
  OpenEngine engine;
  const std::vector<CollectionName> names = {
      {"default", "default"}, {"default", "books"}, {"acme", "default"}};
  for (size_t n = 0; n < names.size(); ++n) {
    Collection* c = engine.In(names[n]);
    // The same ids everywhere, other contents and counts.
    std::vector<Mutation> items;
    for (size_t i = 0; i < 5 + n; ++i) {
      items.push_back(Film("i" + std::to_string(i), "word" + std::to_string(n) + " thing",
                           "g" + std::to_string(n), 1.0 * n));
    }
    MustWrite(c, std::move(items));
    for (size_t e = 0; e < 3 * (n + 1); ++e)
      MustWrite(c, {View("u" + std::to_string(e), "i" + std::to_string(e % 4))});
  }
  for (bool reopened : {false, true}) {
    if (reopened) engine.Reopen();
    for (size_t n = 0; n < names.size(); ++n) {
      INFO("collection " << names[n].tenant << "/" << names[n].collection << " reopened " << reopened);
      Collection* c = engine.In(names[n]);
      REQUIRE(c->CatchUp(Deadline::Never()).ok());
      const CollectionStatus status = c->status();
      CHECK(status.counts.items == static_cast<int64_t>(5 + n));
      CHECK(status.counts.events == static_cast<int64_t>(3 * (n + 1)));
      CHECK(status.counts.users == static_cast<int64_t>(3 * (n + 1)));
      CHECK(status.indexed_items == static_cast<int64_t>(5 + n));
      CHECK(Ids(c, SearchFor("word" + std::to_string(n))).size() == 5 + n);
      CHECK(Ids(c, SearchFor("word" + std::to_string((n + 1) % 3))).empty());
      CHECK(Ids(c, SearchFor("thing", "genres = \"g" + std::to_string(n) + "\"")).size() == 5 + n);
      CHECK(Ids(c, SearchFor("thing", "genres = \"g" + std::to_string((n + 1) % 3) + "\"")).empty());
      CHECK(!Has(Ids(c, FeedOf("u0")), "i0"));
      // A user of the last collection is nobody in the others.
      CHECK(Ids(c, FeedOf("u8")).size() == (n == 2 ? 5 + n - 1 : 5 + n));
    }
  }
}

TEST_CASE("an alias serves the collection that it points at, from one request to the next") {
  OpenEngine engine;
  MustWrite(engine.In({"default", "v1"}), {Film("a", "Old film", "Drama", 1)});
  MustWrite(engine.In({"default", "v2"}), {Film("b", "New film", "Drama", 1)});
  REQUIRE(engine->store().PutAlias("default", "live", "v1").ok());
  REQUIRE(engine.In({"default", "v1"})->CatchUp(Deadline::Never()).ok());
  REQUIRE(engine.In({"default", "v2"})->CatchUp(Deadline::Never()).ok());
  CHECK(Ids(engine.In({"default", "live"}), SearchFor("film")) == std::vector<std::string>{"a"});
  REQUIRE(engine->store().PutAlias("default", "live", "v2").ok());
  CHECK(Ids(engine.In({"default", "live"}), SearchFor("film")) == std::vector<std::string>{"b"});
}

}  // namespace
}  // namespace waymark::tests
