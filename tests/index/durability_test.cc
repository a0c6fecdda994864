#include <fstream>
#include <random>

#include "absl/strings/str_cat.h"
#include "index/index_manifest.h"
#include "tests/index/indexed_collection.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::string>;

// Three segments, with an update and a deletion.
void Fill(IndexedCollection* shop) {
  shop->Declare({{"title", 1}, {"text", 1}});
  shop->Put("1", {{"title", "star wars"}, {"text", "a long time ago"}});
  shop->Put("2", {{"title", "star trek"}});
  shop->CatchUp();
  shop->Put("3", {{"title", "the third man"}, {"text", "a star of the screen"}});
  shop->Put("2", {{"title", "star trek again"}});
  shop->CatchUp();
  shop->Put("4", {{"title", "gone star"}});
  shop->CatchUp();
  shop->Delete("4");
  shop->CatchUp();
}

// All that searches say: items, scores, totals.
std::vector<std::pair<std::string, float>> Answers(const IndexedCollection& shop) {
  std::vector<std::pair<std::string, float>> answers;
  for (const char* query : {"star", "\"star trek\"", "star AND NOT wars", "time third again gone"}) {
    const KeywordHits hits = shop.Find({.query = query});
    answers.emplace_back(query, static_cast<float>(hits.total));
    for (const ScoredItem& hit : hits.items) {
      answers.emplace_back(shop.store->ItemId(shop.scope, hit.item), hit.score);
    }
  }
  return answers;
}

std::vector<std::string> Beside(const IndexedCollection& shop) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(shop.index_folder().parent_path())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("an index that was committed goes on from there") {
  IndexedCollection shop;
  Fill(&shop);
  REQUIRE(shop.index->Commit().ok());
  const auto before = Answers(shop);
  const LogOffset position = shop.index->position();
  shop.Reopen();
  CHECK(shop.index->position() == position);
  CHECK(Answers(shop) == before);
  CHECK(shop.index->status().rebuild_reason.empty());
  shop.Put("5", {{"title", "fifth star"}});
  shop.Put("1", {{"title", "renamed"}});
  shop.CatchUp();
  CHECK(shop.Search("fifth") == Ids{"5"});
  CHECK(shop.Search("wars").empty());
  CHECK(Beside(shop) == Ids{"1-1"});
}

TEST_CASE("an index that was closed in order has committed") {
  IndexedCollection shop;
  Fill(&shop);
  const LogOffset position = shop.index->position();
  shop.Reopen();
  CHECK(shop.index->position() == position);
}

TEST_CASE("after a crash the tail is taken from the log again") {
  IndexedCollection shop;
  Fill(&shop);
  REQUIRE(shop.index->Commit().ok());
  const LogOffset committed = shop.index->position();
  shop.Put("5", {{"title", "fifth star"}});
  shop.Delete("1");
  shop.CatchUp();
  const auto expected = Answers(shop);
  const fs::path copy = shop.index_folder().string() + ".copy";
  fs::copy(shop.index_folder(), copy, fs::copy_options::recursive);  // the files as a crash leaves them
  shop.CloseIndex();
  fs::remove_all(shop.index_folder());
  fs::rename(copy, shop.index_folder());
  shop.OpenIndex();
  CHECK(shop.index->position() == committed);
  shop.CatchUp();
  CHECK(Answers(shop) == expected);
  CHECK(shop.index->status().rebuild_reason.empty());
}

TEST_CASE("a crash between Lucene's commit and the manifest costs nothing") {
  IndexedCollection shop;
  Fill(&shop);
  REQUIRE(shop.index->Commit().ok());
  const fs::path manifest = shop.index_folder() / kManifestName;
  const fs::path old = shop.index_folder().string() + ".manifest";
  fs::copy_file(manifest, old);
  const LogOffset committed = shop.index->position();
  shop.Put("5", {{"title", "fifth star"}});
  shop.CatchUp();
  const auto expected = Answers(shop);
  shop.CloseIndex();  // commits
  fs::rename(old, manifest);
  shop.OpenIndex();
  CHECK(shop.index->position() == committed);
  shop.CatchUp();
  CHECK(Answers(shop) == expected);
  CHECK(shop.index->status().rebuild_reason.empty());
  shop.Reopen();
  CHECK(Answers(shop) == expected);
}

TEST_CASE("an index without a commit starts again from the store") {
  IndexedCollection shop;
  Fill(&shop);
  const auto expected = Answers(shop);
  shop.CloseIndex();
  fs::remove(shop.index_folder() / kManifestName);
  shop.OpenIndex();
  CHECK(shop.index->position() == 0);
  shop.CatchUp();
  CHECK(Answers(shop) == expected);
}

void Damage(const fs::path& file, int kind) {
  const auto size = fs::file_size(file);
  if (kind == 0) {
    fs::remove(file);
  } else if (kind == 1) {
    fs::resize_file(file, size / 2);
  } else {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(size / 2));
    const char byte = static_cast<char>(bytes.get() ^ 0x55);
    bytes.seekp(static_cast<std::streamoff>(size / 2));
    bytes.put(byte);
  }
}

TEST_CASE("damage to any file is found, set aside and put right from the store") {
  IndexedCollection shop;
  Fill(&shop);
  const auto expected = Answers(shop);
  std::vector<std::string> names;
  shop.CloseIndex();
  auto manifest = ReadManifest(shop.index_folder());
  REQUIRE(manifest.ok());
  for (const IndexedFile& file : manifest->files) names.push_back(file.name);
  REQUIRE(names.size() > 10);
  names.push_back(kManifestName);
  const fs::path intact = shop.index_folder().string() + ".intact";
  fs::copy(shop.index_folder(), intact, fs::copy_options::recursive);
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    // Missing, cut short, one byte changed: in turn, and all three for the files of the whole index.
    for (int kind = 0; kind < 3; ++kind) {
      if (name[0] == '_' && kind != static_cast<int>(i % 3)) continue;
      if (kind == 0 && name == kManifestName) continue;  // that is an index without a commit
      if (kind > 0 && fs::file_size(intact / name) == 0) continue;
      INFO(name << " damaged in way " << kind);
      fs::remove_all(shop.index_folder());
      fs::copy(intact, shop.index_folder(), fs::copy_options::recursive);
      Damage(shop.index_folder() / name, kind);
      shop.OpenIndex();
      CHECK(shop.index->status().rebuild_reason.find(name) != std::string::npos);
      shop.CatchUp();
      CHECK(Answers(shop) == expected);
      shop.CloseIndex();
    }
  }
  // The last three are kept.
  int aside = 0;
  for (const std::string& name : Beside(shop)) aside += name.starts_with("1-1.damaged-");
  CHECK(aside == 3);
}

TEST_CASE("a damaged hint of Lucene's does no harm") {
  IndexedCollection shop;
  Fill(&shop);
  const auto expected = Answers(shop);
  shop.CloseIndex();
  std::ofstream(shop.index_folder() / "segments.gen") << "garbage that is no hint at all";
  shop.OpenIndex();
  CHECK(Answers(shop) == expected);
  CHECK(shop.index->status().rebuild_reason.empty());
}

TEST_CASE("an index of a newer format is set aside, by name") {
  IndexedCollection shop;
  Fill(&shop);
  const auto expected = Answers(shop);
  shop.CloseIndex();
  const fs::path path = shop.index_folder() / kManifestName;
  std::string text;
  std::getline(std::ifstream(path), text, '\0');
  const std::string key = "\"format\": 2";
  REQUIRE(text.find(key) != std::string::npos);
  text.replace(text.find(key), key.size(), "\"format\": 3");
  std::ofstream(path) << text;
  shop.OpenIndex();
  CHECK(shop.index->status().rebuild_reason.find("format 3 is newer than this program's 2") !=
        std::string::npos);
  shop.CatchUp();
  CHECK(Answers(shop) == expected);
  CHECK(Beside(shop) == Ids{"1-1", "1-1.damaged-1"});
}

TEST_CASE("the index of another store is not used") {
  IndexedCollection one, two;
  Fill(&one);
  two.Declare({{"title", 1}});
  two.Put("x", {{"title", "other star"}});
  two.CatchUp();
  one.CloseIndex();
  two.CloseIndex();
  fs::remove_all(two.index_folder());
  fs::copy(one.index_folder(), two.index_folder(), fs::copy_options::recursive);
  two.OpenIndex();
  two.CatchUp();
  CHECK(two.Search("star") == Ids{"x"});
  CHECK(two.index->status().rebuild_reason.find("epoch") != std::string::npos);
}

TEST_CASE("a schema that searches other fields is followed by a rebuild beside the serving index") {
  IndexedCollection shop;
  Fill(&shop);
  CHECK(shop.Search("ago") == Ids{"1"});
  shop.Declare({{"title", 1}});  // "text" is no longer searched
  shop.CatchUp();
  CHECK(shop.Search("ago").empty());
  CHECK(shop.Search("wars") == Ids{"1"});
  CHECK_FALSE(shop.index->status().rebuild_reason.empty());
  shop.Declare({{"title", 1}, {"text", 1}});
  shop.CatchUp();
  CHECK(shop.Search("ago") == Ids{"1"});
  CHECK(Beside(shop) == Ids{"1-1"});
  const auto expected = Answers(shop);
  shop.Reopen();
  CHECK(Answers(shop) == expected);
}

TEST_CASE(
    "other settings of the analysis are followed by a rebuild, also when they came while it was closed") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  shop.Put("1", {{"title", "the wars"}});
  shop.CatchUp();
  CHECK(shop.Search("war").empty());
  CHECK(shop.Search("the") == Ids{"1"});
  shop.CloseIndex();
  shop.Declare({{"title", 1}}, /*english=*/true);
  shop.OpenIndex();
  shop.CatchUp();
  CHECK(shop.Search("war") == Ids{"1"});
}

TEST_CASE("a rebuild that had finished when the process died takes its place") {
  IndexedCollection shop;
  Fill(&shop);
  const auto expected = Answers(shop);
  shop.CloseIndex();
  fs::rename(shop.index_folder(), shop.index_folder().string() + ".building");
  fs::create_directory(shop.index_folder().string() + ".old");
  shop.OpenIndex();
  CHECK(shop.index->position() == shop.store->End());
  CHECK(Answers(shop) == expected);
  CHECK(Beside(shop) == Ids{"1-1"});
}

TEST_CASE("two collections of one store do not see each other") {
  IndexedCollection one;
  IndexedCollection two(&one, "second");
  one.Declare({{"title", 1}});
  two.Declare({{"title", 1}});
  one.Put("a", {{"title", "star wars"}});
  two.Put("b", {{"title", "star trek"}});
  two.Put("c", {{"title", "second"}});
  one.CatchUp();
  two.CatchUp();
  CHECK(one.Search("star") == Ids{"a"});
  CHECK(two.Search("star") == Ids{"b"});
  CHECK(one.Search("second").empty());
  CHECK(one.index_folder() != two.index_folder());
  one.Reopen();
  two.Reopen();
  CHECK(one.Search("star") == Ids{"a"});
  CHECK(two.Search("star") == Ids{"b"});
}

TEST_CASE("an index opened on a full store catches up with it") {
  IndexedCollection shop;
  shop.CloseIndex();
  shop.Declare({{"title", 1}});
  std::vector<std::pair<std::string, TextFields>> items;
  for (int i = 0; i < 2500; ++i)
    items.push_back({absl::StrCat("i", i), {{"title", absl::StrCat("number ", i)}}});
  shop.PutAll(items);
  shop.Delete("i7");
  shop.OpenIndex();
  shop.CatchUp();
  CHECK(shop.index->status().items == 2499);
  CHECK(shop.Search("2345") == Ids{"i2345"});
  CHECK(shop.Search("7").empty());
  CHECK(shop.index->position() == shop.store->End());
}

TEST_CASE("an index folder that cannot be made is an error that names it") {
  IndexedCollection shop;
  shop.CloseIndex();
  fs::remove_all(shop.index_folder().parent_path());
  std::ofstream(shop.index_folder().parent_path()) << "a file in the way";
  const auto opened = KeywordIndex::Open(shop.store, shop.scope, shop.catalog.get(), shop.options);
  REQUIRE_FALSE(opened.ok());
  CHECK(std::string(opened.status().message()).find(shop.index_folder().parent_path().string()) !=
        std::string::npos);
}

}  // namespace
}  // namespace waymark::tests
