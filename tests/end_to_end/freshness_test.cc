#include <atomic>
#include <thread>

#include "tests/end_to_end/open_engine.h"

namespace waymark::tests {
namespace {

constexpr int kFilms = 60;

void PutFilms(Collection* collection) {
  std::vector<Mutation> films;
  for (int i = 0; i < kFilms; ++i) {
    films.push_back(
        Film("f" + std::to_string(i), "Film number" + std::to_string(i), i % 2 ? "Drama" : "Comedy", i));
  }
  MustWrite(collection, std::move(films));
}

TEST_CASE("an event that was answered is in that user's next feed, a thousand times, beside other users") {
  OpenEngine engine;
  Collection* films = engine.In();
  PutFilms(films);
  std::atomic<bool> stop{false};
  std::thread others([&] {
    for (int n = 0; !stop; ++n) {
      MustWrite(films, {View("other" + std::to_string(n % 17), "f" + std::to_string(n % kFilms))});
    }
  });
  int shown_again = 0, not_there_before = 0;
  for (int n = 0; n < 1000; ++n) {
    const std::string user = "u" + std::to_string(n % 25), item = "f" + std::to_string(n / 25);
    if (!Has(Ids(films, FeedOf(user)), item)) ++not_there_before;
    MustWrite(films, {View(user, item)});
    if (Has(Ids(films, FeedOf(user)), item)) ++shown_again;
  }
  stop = true;
  others.join();
  CHECK(shown_again == 0);       // seen items are left out from the very next request
  CHECK(not_there_before == 0);  // and had been shown until then
}

TEST_CASE("a read that carries a write's token sees that write") {
  EngineOptions options;
  options.index_refresh_interval = absl::Hours(1);  // the token alone brings the index up
  OpenEngine engine(options);
  Collection* films = engine.In();
  for (int n = 0; n < 50; ++n) {
    const std::string word = "zebra" + std::to_string(n);
    const WriteReceipt receipt = MustWrite(films, {Film("z" + std::to_string(n), "The " + word, "Drama", 1)});
    PipelineRequest request = SearchFor(word);
    request.consistency_token = EncodeConsistencyToken(receipt.position);
    CHECK(Ids(films, request) == std::vector<std::string>{"z" + std::to_string(n)});
  }
}

TEST_CASE("tokens of other folders, and of writes to come, are refused") {
  OpenEngine engine, other;
  MustWrite(other.In(), {Film("a", "Other", "Drama", 1)});
  PipelineRequest request = SearchFor("other");
  request.consistency_token = EncodeConsistencyToken(other->store().EndPosition());
  MustWrite(engine.In(), {Film("a", "Mine", "Drama", 1)});
  CHECK(absl::IsInvalidArgument(engine.In()->Run(request, Deadline::Never()).status()));
  request.consistency_token = EncodeConsistencyToken(EmbeddedPosition(engine->store().epoch(), 1000));
  CHECK(absl::IsInvalidArgument(engine.In()->Run(request, Deadline::Never()).status()));
  request.consistency_token = "nonsense";
  CHECK(absl::IsInvalidArgument(engine.In()->Run(request, Deadline::Never()).status()));
}

TEST_CASE("a deleted item is gone from the next search and feed") {
  OpenEngine engine;
  Collection* films = engine.In();
  PutFilms(films);
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  REQUIRE(Ids(films, SearchFor("number7")) == std::vector<std::string>{"f7"});
  REQUIRE(Has(Ids(films, FeedOf("somebody")), "f7"));
  MustWrite(films, {DeleteItem{"f7"}});
  CHECK(Ids(films, SearchFor("number7")).empty());
  CHECK(!Has(Ids(films, FeedOf("somebody")), "f7"));
  MustWrite(films, {Film("f7", "Film number7", "Drama", 7)});
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  CHECK(Ids(films, SearchFor("number7")) == std::vector<std::string>{"f7"});
}

TEST_CASE("a price is visible to the next filter, and no text segment is touched") {
  OpenEngine engine;
  Collection* films = engine.In();
  PutFilms(films);
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  const CollectionStatus before = films->status();
  UpdateItem update;
  update.id = "f7";
  (*update.fields.mutable_fields())["price"].set_number_value(999);
  update.paths = {"price"};
  MustWrite(films, {update});
  CHECK(Ids(films, SearchFor("film", "price > 900")) == std::vector<std::string>{"f7"});
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  const CollectionStatus after = films->status();
  CHECK(after.index_segments == before.index_segments);
  CHECK(after.index_bytes == before.index_bytes);
  CHECK(Ids(films, SearchFor("number7", "price > 900")) == std::vector<std::string>{"f7"});
}

TEST_CASE("everything is there again after a restart") {
  OpenEngine engine;
  PutFilms(engine.In());
  MustWrite(engine.In(), {View("u1", "f3"), View("u1", "f5"), View("u2", "f3"), View("u2", "f5")});
  REQUIRE(engine.In()->CatchUp(Deadline::Never()).ok());
  const auto feed = Ids(engine.In(), FeedOf("u3"));
  engine.Reopen();
  REQUIRE(engine.In()->CatchUp(Deadline::Never()).ok());
  CHECK(Ids(engine.In(), SearchFor("number9")) == std::vector<std::string>{"f9"});
  CHECK(Ids(engine.In(), FeedOf("u3")) == feed);
  CHECK(!Has(Ids(engine.In(), FeedOf("u1")), "f3"));
}

}  // namespace
}  // namespace waymark::tests
