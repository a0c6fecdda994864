// Damage to the catalogue's checkpoint, and the check that proves that it agrees with the store.
#include "catalog/catalog_check.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "catalog/catalog_impl.h"
#include "tests/catalog/shop.h"
#include "tests/support/damage.h"

namespace waymark {
namespace {

namespace fs = std::filesystem;
using tests::Folder;
using tests::Shop;
using Ids = std::vector<std::string>;

void Fill(Shop* shop) {
  shop->Put("a", R"({"title": "Toy Story", "genres": ["Animation", "Comedy"], "year": 1995, "price": 10,
                     "at": {"lat": 52.5, "lon": 13.4}, "shown": "1995-11-22"})");
  shop->Put("b", R"({"title": "Heat", "genres": ["Crime"], "year": 1995, "sizes": [1, 2.5],
                     "at": {"lat": 48.9, "lon": 2.4}, "ok": true})");
  shop->Put("c", R"({"title": "The Thing", "genres": ["Horror", "Crime"], "year": 1982})");
  shop->Put("gone", R"({"year": 1})");
  shop->Write({DeleteItem{"gone"}});
}

std::vector<Ids> Answers(const Shop& shop) {
  std::vector<Ids> answers;
  for (const char* filter :
       {"genres = \"Crime\"", "year < 1990", "price:*", "geo_distance(at, 52, 13) < 100km",
        "shown = 1995-11-22", "ok = true", "sizes:2..3", ""}) {
    answers.push_back(shop.Passing(filter));
  }
  return answers;
}

PartCheck Check(const Shop& shop) {
  PartCheck check{.part = "catalog"};
  const absl::Status status = shop.catalog->Check(&check);
  INFO(status);
  REQUIRE(status.ok());
  return check;
}

TEST_CASE("Each of 64 flips and cuts of the checkpoint is found, reported and put right from the store") {
  Folder folder;
  Shop shop(folder.path());
  Fill(&shop);
  const auto expected = Answers(shop);
  REQUIRE(shop.catalog->Checkpoint().ok());
  const fs::path file = CatalogFile(folder.path(), shop.scope), intact = file.string() + ".intact";
  fs::copy_file(file, intact);
  PartCheck clean{.part = "catalog"};
  CheckCatalogFile(folder.path(), shop.scope, &clean);
  CHECK(clean.clean());
  CHECK(clean.files == 1);
  for (const tests::Damage& damage : tests::SpreadDamages(fs::file_size(intact))) {
    INFO((damage.cut ? "cut at " : "flipped at ") << damage.at);
    fs::copy_file(intact, file, fs::copy_options::overwrite_existing);
    tests::Apply(damage, file);
    PartCheck check{.part = "catalog"};
    CheckCatalogFile(folder.path(), shop.scope, &check);
    REQUIRE_FALSE(check.clean());
    shop.OpenCatalog();
    REQUIRE_FALSE(shop.catalog->rebuild_reason().empty());
    REQUIRE(fs::exists(file.string() + ".damaged"));
    REQUIRE(Answers(shop) == expected);
    REQUIRE(Check(shop).clean());
  }
}

TEST_CASE("A check compares every item with its columns") {
  Folder folder;
  Shop shop(folder.path());
  Fill(&shop);
  PartCheck check = Check(shop);
  CHECK(check.clean());
  CHECK(check.items == 3);
  // Writes that never reached the columns.
  shop.feed = false;
  shop.Write({UpdateItem{"a", tests::Fields(R"({"year": 2000})"), {"year"}}, DeleteItem{"b"}});
  shop.feed = true;
  check = Check(shop);
  REQUIRE(check.findings_count == 2);
  CHECK(check.findings[0].where == "item 'a'");
  CHECK(check.findings[0].what == "has other values here than in the store: 'year'");
  CHECK(check.findings[1].where == "item 'b'");
  CHECK(check.findings[1].what == "is here and not in the store");
  REQUIRE(shop.catalog->Rebuild().ok());
  CHECK(shop.Passing("year = 2000") == Ids{"a"});
}

}  // namespace
}  // namespace waymark
