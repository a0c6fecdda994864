#include "catalog/catalog.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <random>
#include <thread>

#include "tests/catalog/movies.h"
#include "tests/catalog/random_rows.h"
#include "tests/catalog/shop.h"
#include "tests/support/skip.h"

namespace waymark {
namespace {

using tests::Fields;
using tests::Folder;
using tests::Shop;
using Ids = std::vector<std::string>;

void PutFilms(Shop* shop) {
  shop->Put("a", R"({"title": "Toy Story", "genres": ["Animation", "Comedy"], "year": 1995, "price": 10})");
  shop->Put("b", R"({"title": "Heat", "genres": ["Crime"], "year": 1995, "price": 12.5})");
  shop->Put("c", R"({"title": "The Thing", "genres": ["Horror"], "year": 1982})");
}

TEST_CASE("An answered write is in the catalog, and in every filter") {
  Folder folder;
  Shop shop(folder.path());
  PutFilms(&shop);
  CHECK(shop.catalog->live_count() == 3);
  CHECK(shop.Passing("year = 1995") == Ids{"a", "b"});
  CHECK(shop.Passing("price > 11") == Ids{"b"});
  CHECK(shop.Passing("") == Ids{"a", "b", "c"});
  CHECK(shop.catalog->position() == shop.store->End());

  shop.Write({UpdateItem{"b", Fields(R"({"price": 3})"), {"price"}}});
  CHECK(shop.Passing("price > 11").empty());
  CHECK(shop.Passing("price < 11") == Ids{"a", "b"});
  CHECK(shop.Passing("genres = Crime") == Ids{"b"});
  shop.Write({UpdateItem{"b", {}, {"price"}}});
  CHECK(shop.Passing("price:*") == Ids{"a"});

  const auto before = shop.catalog->LiveItems();
  CHECK(shop.catalog->LiveItems() == before);  // no copy while nothing lives or dies
  shop.Write({DeleteItem{"a"}});
  CHECK(before->Size() == 3);
  CHECK(shop.catalog->LiveItems()->Size() == 2);
  CHECK_FALSE(shop.catalog->Live(shop.Ordinal("a")));
  CHECK(shop.Passing("-genres:nothing") == Ids{"b", "c"});
  shop.Put("a", R"({"year": 2001})");
  CHECK(shop.Passing("year > 2000") == Ids{"a"});
  CHECK(shop.Passing("genres:animation").empty());
}

TEST_CASE("Columns are read for a whole request at once") {
  Folder folder;
  Shop shop(folder.path());
  PutFilms(&shop);
  const std::vector<ItemOrdinal> items = {shop.Ordinal("c"), shop.Ordinal("a"), 4000000};
  std::vector<double> prices(3);
  shop.catalog->ReadNumbers("price", items, absl::MakeSpan(prices));
  CHECK(std::isnan(prices[0]));
  CHECK(prices[1] == 10);
  CHECK(std::isnan(prices[2]));
  std::vector<std::vector<TermNumber>> terms;
  shop.catalog->ReadTerms("genres", items, &terms);
  REQUIRE(terms[1].size() == 2);
  CHECK(shop.catalog->TermText("genres", terms[1][0]) == "Animation");
  CHECK(shop.catalog->TermText("genres", terms[1][1]) == "Comedy");
  CHECK(terms[2].empty());
  std::vector<float> years(3);
  shop.catalog->ReadYears(items, absl::MakeSpan(years));
  CHECK(years[0] == 1982);
  CHECK(std::isnan(years[2]));
  std::vector<std::vector<uint64_t>> words, categories;
  shop.catalog->ReadContent(items, &words, &categories);
  CHECK(words[1].size() == 2);
  CHECK(categories[1].size() == 2);
  CHECK(words[2].empty());
}

TEST_CASE("Years are read from times where no number is a year") {
  Folder folder;
  Shop shop(folder.path());
  shop.Put("a", R"({"released": "1969-12-31T23:59:59Z"})");
  shop.Put("b", R"({"released": "2000-01-01"})");
  std::vector<float> years(2);
  shop.catalog->ReadYears(std::vector<ItemOrdinal>{shop.Ordinal("a"), shop.Ordinal("b")},
                          absl::MakeSpan(years));
  CHECK(years == std::vector<float>{1969, 2000});
}

TEST_CASE("A schema that widens fills the new column from the store") {
  Folder folder;
  Shop shop(folder.path());
  shop.Put("a", R"({"released": "1995-11-22", "brand": "Acme"})");
  CHECK(shop.Passing("released = 1995") == Ids{"a"});
  shop.Put("b", R"({"released": "some day", "brand": ["Acme", "Other"]})");
  CHECK(shop.Passing("released = 1995-11-22") == Ids{"a"});
  CHECK(shop.Passing("released = \"some day\"") == Ids{"b"});
  CHECK(shop.Passing("brand = Acme") == Ids{"a", "b"});
  std::vector<std::vector<uint64_t>> words, categories;
  shop.catalog->ReadContent(std::vector<ItemOrdinal>{shop.Ordinal("a")}, &words, &categories);
  CHECK(categories[0].size() == 1);
}

TEST_CASE("What lies inside objects is filtered by from its first item on") {
  Folder folder;
  Shop shop(folder.path());
  shop.Put("a", R"({"size": {"width": 30}, "variants": [{"color": "red"}, {"color": "blue"}]})");
  shop.Put("b", R"({"size": {"width": 50.5, "height": 4}, "variants": [{"color": "red"}]})");
  CHECK(shop.Passing("size.width < 40") == Ids{"a"});
  CHECK(shop.Passing("size.width > 40") == Ids{"b"});
  CHECK(shop.Passing("size.height:*") == Ids{"b"});
  CHECK(shop.Passing("variants.color = blue") == Ids{"a"});
  shop.Write({UpdateItem{"a", Fields(R"({"size": {"width": 60}})"), {"size.width"}}});
  CHECK(shop.Passing("size.width > 55") == Ids{"a"});
}

TEST_CASE("Objects that were kept when no path of theirs was found are looked into with the next one") {
  Folder folder;
  Shop shop(folder.path());
  // As a folder has it whose schema was found before fields inside objects were.
  storage::SchemaRecord old;
  for (const char* name : {"size", "place"}) {
    old.add_fields()->set_name(name);
    old.mutable_fields()->rbegin()->set_type(storage::FieldRecord::OBJECT);
  }
  auto collection = shop.store->GetCollection(shop.scope);
  REQUIRE(collection.ok());
  *collection->mutable_item_schema() = old;
  REQUIRE(shop.store->PutCollection(shop.scope, *collection).ok());
  shop.OpenCatalog();
  shop.Write({PutItem{"a", Fields(R"({"size": {"width": 30}, "place": {"lat": 1, "lon": 2}})")}});
  shop.Put("b", R"({"size": {"width": 50}, "place": {"lat": 3.5, "lon": 4}})");
  CHECK(shop.Passing("size.width < 40") == Ids{"a"});
  CHECK(shop.Passing("place.lat < 2") == Ids{"a"});

  shop.Put("c", R"({"spot": {"lat": 52.5, "lon": 13.4}})");
  shop.Put("d", R"({"spot": {"city": "Berlin"}})");
  CHECK(shop.Passing("spot.lat > 50") == Ids{"c"});
  CHECK(shop.Passing("spot.city = Berlin") == Ids{"d"});
}

TEST_CASE("Declaring a schema checks every item and takes over") {
  Folder folder;
  Shop shop(folder.path());
  shop.Put("a", R"({"year": 1995, "brand": "Acme", "extra": "x"})");
  shop.Put("b", R"({"year": 1996, "brand": 7})");
  const auto refused = shop.catalog->DeclareSchema(
      tests::SchemaRecordOf(R"({"fields": [{"name": "brand", "type": "KEYWORD", "filterable": true}]})"));
  CHECK(refused.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(
      refused.message() ==
      "item 'b' does not fit the schema: field 'brand' holds 7; it takes text of at most 1,024 bytes; change "
      "the item or the schema, then declare it again");
  CHECK(shop.Passing("year = 1995") == Ids{"a"});

  REQUIRE(shop.catalog
              ->DeclareSchema(tests::SchemaRecordOf(
                  R"({"fields": [{"name": "year", "type": "FLOATING", "filterable": true}]})"))
              .ok());
  CHECK(shop.Passing("year < 1995.5") == Ids{"a"});
  CHECK_FALSE(shop.catalog->CompileFilter("brand = Acme").ok());
  CHECK(shop.store->GetCollection(shop.scope)->item_schema().declared());
  shop.Put("c", R"({"year": 1994, "other": 3})");
  CHECK_FALSE(shop.catalog->CompileFilter("other = 3").ok());
  CHECK(shop.Passing("year < 1995.5") == Ids{"a", "c"});
  shop.OpenCatalog();
  CHECK(shop.Passing("year < 1995.5") == Ids{"a", "c"});
}

TEST_CASE("WaitFor ends with the write, or with its deadline") {
  Folder folder;
  Shop shop(folder.path());
  shop.Put("a", "{}");
  const LogOffset now = shop.catalog->position();
  CHECK(shop.catalog->WaitFor(now, absl::Now()));
  CHECK_FALSE(shop.catalog->WaitFor(now + 1, absl::Now() + absl::Milliseconds(20)));
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    shop.store->Write(shop.scope, {PutItem{"b", {}}}).IgnoreError();
  });
  CHECK(shop.catalog->WaitFor(now + 1, absl::InfiniteFuture()));
  writer.join();
}

TEST_CASE("A checkpoint and the log's tail give the columns back") {
  Folder folder;
  {
    Shop shop(folder.path());
    PutFilms(&shop);
    REQUIRE(shop.catalog->Checkpoint().ok());
    shop.Write({UpdateItem{"b", Fields(R"({"price": 3})"), {"price"}}, DeleteItem{"c"}});
    shop.Put("d", R"({"year": 2001, "studio": "Pixar", "seen": true})");  // new fields after the checkpoint
  }
  Shop shop(folder.path());
  CHECK(shop.catalog->position() == shop.store->End());
  CHECK(shop.Passing("") == Ids{"a", "b", "d"});
  CHECK(shop.Passing("price <= 3") == Ids{"b"});
  CHECK(shop.Passing("genres:comedy OR studio = Pixar") == Ids{"a", "d"});
  CHECK(shop.Passing("seen = true") == Ids{"d"});
  // Changes that were in the log already are passed over.
  REQUIRE(shop.catalog->Checkpoint().ok());
  shop.feed = false;
  shop.Put("e", R"({"year": 2002})");
  CHECK(shop.Passing("year = 2002").empty());
  shop.OpenCatalog();
  CHECK(shop.Passing("year = 2002") == Ids{"e"});
}

TEST_CASE("A tail of the log of any length is taken in at the next start") {
  Folder folder;
  constexpr int kItems = 10'000;  // of each of two kinds: many reads of the log
  {
    Shop shop(folder.path());
    PutFilms(&shop);
    REQUIRE(shop.catalog->Checkpoint().ok());
    for (const char* kind : {"m", "n"}) {
      std::vector<Mutation> puts;
      for (int i = 0; i < kItems; ++i) {
        puts.push_back(PutItem{absl::StrCat(kind, i), Fields(R"({"year": 2030})")});
      }
      shop.Write(std::move(puts));
    }
  }
  Shop shop(folder.path());
  CHECK(shop.catalog->position() == shop.store->End());
  CHECK(shop.Passing("year = 2030").size() == 2 * kItems);
}

std::filesystem::path CheckpointOf(const std::filesystem::path& data) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data / "catalog")) {
    if (entry.path().filename() == "columns") return entry.path();
  }
  return {};
}

TEST_CASE("A damaged checkpoint is set aside and the columns are rebuilt") {
  Folder folder;
  Shop shop(folder.path());
  PutFilms(&shop);
  REQUIRE(shop.catalog->Checkpoint().ok());
  const auto file = CheckpointOf(folder.path());
  const auto size = std::filesystem::file_size(file);
  std::mt19937 random(1);
  for (int round = 0; round < 12; ++round) {
    {
      std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
      bytes.seekp(static_cast<std::streamoff>(random() % size));
      bytes.put(static_cast<char>(0xA5 + round));
    }
    if (round == 11) std::filesystem::resize_file(file, 10);
    shop.OpenCatalog();
    REQUIRE(shop.Passing("year = 1995 OR genres = Horror") == Ids{"a", "b", "c"});
    REQUIRE(shop.catalog->Checkpoint().ok());
  }
  CHECK(std::filesystem::exists(file.string() + ".damaged"));
}

TEST_CASE("A checkpoint written while items change still comes to the newest values") {
  Folder folder;
  {
    Shop shop(folder.path());
    shop.Grow(Fields(R"({"n": 1})"));
    std::atomic<bool> done{false};
    std::thread writer([&] {
      for (int i = 0; i < 300; ++i) {
        google::protobuf::Struct fields;
        (*fields.mutable_fields())["n"].set_number_value(i);
        shop.store->Write(shop.scope, {PutItem{"item" + std::to_string(i), fields}}).IgnoreError();
      }
      done = true;
    });
    while (!done) CHECK(shop.catalog->Checkpoint().ok());
    writer.join();
  }
  Shop shop(folder.path());
  shop.Grow(Fields(R"({"n": 1})"));
  CHECK(shop.catalog->rebuild_reason().empty());
  CHECK(shop.catalog->live_count() == 300);
  CHECK(shop.Passing("n >= 250").size() == 50);
  CHECK(shop.Passing("n < 250").size() == 250);
}

TEST_CASE("Readers beside a writer and a changing schema see whole states only") {
  Folder folder;
  Shop shop(folder.path());
  shop.Grow(Fields(R"({"a": 1, "b": 1, "kind": "x", "released": "2001-01-01"})"));
  // In every state, a and b of an item are equal.
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  std::atomic<int> reads{0}, torn{0};
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&] {
      while (!done) {
        const auto filter = shop.catalog->CompileFilter("a:0..50 AND b:51..100 OR kind:y");
        const auto live = shop.catalog->LiveItems();
        if (!filter.ok() || shop.catalog->Evaluate(**filter)->Size() != 0) ++torn;
        const std::vector<ItemOrdinal> items = live->ToVector();
        std::vector<std::vector<uint64_t>> words, categories;
        shop.catalog->ReadContent(items, &words, &categories);
        for (const ItemOrdinal item : items) {
          if (shop.catalog->Passes(**filter, item)) ++torn;
        }
        ++reads;
      }
    });
  }
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    std::vector<Mutation> mutations;
    for (int k = 0; k < 5; ++k) {
      const std::string id = "item" + std::to_string(random() % 40);
      const int value = static_cast<int>(random() % 101);
      if (random() % 6 == 0) {
        mutations.push_back(DeleteItem{id});
      } else {
        mutations.push_back(PutItem{id, Fields("{\"a\": " + std::to_string(value) +
                                               ", \"b\": " + std::to_string(value) + ", \"kind\": \"x\"}")});
      }
    }
    shop.store->Write(shop.scope, std::move(mutations)).IgnoreError();
    if (i == 100) shop.Grow(Fields(R"({"c": true})"));
    if (i == 200) shop.Grow(Fields(R"({"released": "no day"})"));  // refills a column from the store
  }
  while (reads < 20) std::this_thread::yield();
  done = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(torn == 0);
}

TEST_CASE("Filters over the Wikipedia films count what a script over the files counts") {
  if (!tests::HaveData("wikipedia-movies")) return;
  Folder folder;
  Shop shop(folder.path());
  std::vector<PutItem> batch;
  int films = 0;
  tests::ForEachWikipediaMovie([&](const google::protobuf::Struct& fields) {
    batch.push_back(PutItem{"w" + std::to_string(films++), fields});
    if (batch.size() == 1000) shop.PutAll(std::exchange(batch, {}));
  });
  shop.PutAll(std::move(batch));
  CHECK(shop.catalog->live_count() == 36273);
  CHECK(shop.Passing("genres = Drama AND year:1990..1999").size() == 1120);
  CHECK(shop.Passing("genres IN (Comedy, Romance)").size() == 11768);
  CHECK(shop.Passing("genres = Comedy OR genres = Romance").size() == 11768);
  CHECK(shop.Passing("cast = \"Tom Hanks\"").size() == 59);
  CHECK(shop.Passing("cast:\"tom hanks\" AND year > 2000").size() == 32);
  CHECK(shop.Passing("-genres:*").size() == 588);
  CHECK(shop.Passing("href:*").size() == 34540);
  REQUIRE(shop.catalog->Checkpoint().ok());
  shop.OpenCatalog();
  CHECK(shop.Passing("cast:\"tom hanks\" AND year > 2000").size() == 32);
}

}  // namespace
}  // namespace waymark
