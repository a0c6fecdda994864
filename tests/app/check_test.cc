// `waymark check`, partial imports, vectors and places, as a person would use them.
#include "absl/strings/str_cat.h"
#include "tests/app/program.h"
#include "tests/support/damage.h"

namespace waymark {
namespace {

namespace fs = std::filesystem;
using tests::kFilms;
using tests::Ran;
using tests::Sandbox;

std::string FirstFile(const Sandbox& sandbox, const std::string& folder) {
  for (const std::string& file : tests::FilesBelow(sandbox.Path("d") / folder)) {
    if (file.find("segments.gen") == std::string::npos && file.find("lock") == std::string::npos) return file;
  }
  return "";
}

TEST_CASE("a check of a folder says that all agrees, or what differs, and mends it") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  Ran ran = sandbox.Run({"check", "--data", "d"});
  INFO(ran.out);
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Catch::Contains("agrees with its store") && Catch::Contains("index"));
  CHECK(ran.err.empty());
  for (const std::string folder : {"catalog", "index"}) {
    const std::string file = FirstFile(sandbox, folder);
    REQUIRE_FALSE(file.empty());
    tests::Apply({false, 20}, sandbox.Path("d") / folder / file);
    ran = sandbox.Run({"check", "--data", "d"});
    INFO(ran.out);
    CHECK(ran.code == 1);
    CHECK_THAT(ran.out, Catch::Contains(folder) && Catch::Contains("waymark check --repair"));
    // It was only looked at.
    CHECK(sandbox.Run({"check", "--data", "d"}).code == 1);
    ran = sandbox.Run({"check", "--data", "d", "--repair"});
    INFO(ran.out);
    CHECK(ran.code == 0);
    CHECK_THAT(ran.out, Catch::Contains("repaired"));
    CHECK(sandbox.Run({"check", "--data", "d"}).code == 0);
    CHECK(sandbox.Json({"search", "star", "--data", "d"})["total_size"] == "2");
  }
  const auto document = sandbox.Json({"check", "--data", "d"});
  CHECK(document["parts"].size() > 4);
  CHECK(document["findings"].empty());
  CHECK(sandbox.Run({"check", "--data", "nowhere"}).code == 1);
}

TEST_CASE("a check of one collection looks at that one, and at none that is not there") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d", "--collection", "other"}, kFilms).code == 0);
  const auto document = sandbox.Json({"check", "--data", "d", "--collection", "other"});
  for (const auto& part : document["parts"]) {
    INFO(part.dump());
    const std::string collection = part["collection"];  // empty: the store's, of all
    CHECK((collection.empty() || collection == "tenants/default/collections/other"));
  }
  tests::Apply({false, 20}, sandbox.Path("d") / "catalog" / FirstFile(sandbox, "catalog"));
  const Ran all = sandbox.Run({"check", "--data", "d"});
  CHECK(all.code == 1);
  const bool other = all.out.find("collections/other catalog") != std::string::npos;
  CHECK(sandbox.Run({"check", "--data", "d", "--collection", "other"}).code == (other ? 1 : 0));
  const Ran none = sandbox.Run({"check", "--data", "d", "--collection", "nowhere"});
  CHECK(none.code == 1);
  CHECK_THAT(none.err, Catch::Contains("nowhere"));
  const auto status = sandbox.Json({"status", "--data", "d", "--collection", "other"});
  REQUIRE(status["collections"].size() == 1);
  CHECK(status["collections"][0]["name"] == "tenants/default/collections/other");
  CHECK(sandbox.Run({"status", "--data", "d", "--collection", "nowhere"}).code == 1);
}

TEST_CASE("damage of the lists that were served is found, and not said to be repaired") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  REQUIRE(sandbox.Run({"search", "star", "--data", "d"}).code == 0);
  for (int i = 0; i < 2; ++i) REQUIRE(sandbox.Run({"search", "war", "--data", "d"}).code == 0);
  REQUIRE(sandbox.Run({"check", "--data", "d"}).code == 0);
  std::string table;
  for (const std::string& file : tests::FilesBelow(sandbox.Path("d") / "served")) {
    if (file.ends_with(".sst")) table = file;
  }
  REQUIRE_FALSE(table.empty());
  tests::Apply({false, 20}, sandbox.Path("d") / "served" / table);
  for (const std::string option : {"--json", "--repair"}) {
    const Ran ran = sandbox.Run({"check", "--data", "d", option});
    INFO(ran.out + ran.err);
    CHECK(ran.code == 1);
    CHECK_THAT(ran.out + ran.err, Catch::Contains("served") && Catch::Contains("restore"));
  }
}

TEST_CASE("a running server is checked and repaired through it") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  const auto server = sandbox.Start(
      {"serve", "--data", "d", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"});
  REQUIRE(server->WaitFor("gRPC"));
  CHECK(sandbox.Run({"check", "--data", "d"}).code == 0);
  tests::Apply({false, 20}, sandbox.Path("d") / "catalog" / FirstFile(sandbox, "catalog"));
  CHECK(sandbox.Run({"check", "--data", "d"}).code == 1);
  const Ran ran = sandbox.Run({"check", "--data", "d", "--repair"});
  INFO(ran.out);
  CHECK(ran.code == 0);
  CHECK(sandbox.Run({"check", "--data", "d"}).code == 0);
}

TEST_CASE("what a start makes anew is in the status") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  tests::Apply({true, 30}, sandbox.Path("d") / "catalog" / FirstFile(sandbox, "catalog"));
  const Ran ran = sandbox.Run({"status", "--data", "d", "--parts"});
  INFO(ran.out);
  CHECK_THAT(ran.out, Catch::Contains("made anew  catalog: ") && Catch::Contains("catalog/genres"));
}

TEST_CASE("an import can update some fields of items") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, kFilms).code == 0);
  sandbox.Write("prices.csv", "id,price\n1,9.5\n2,4\nnone,3\n");
  const auto report = sandbox.Json({"import", "items", "prices.csv", "--data", "d", "--update"});
  CHECK(report["written"] == 2);
  CHECK(report["refused"] == 1);
  CHECK(report["refusals"][0]["line"] == 4);
  const auto answer = sandbox.Json({"search", "star wars", "--data", "d", "--filter", "price > 9"});
  REQUIRE(answer["results"].size() == 1);
  CHECK(answer["results"][0]["item"]["fields"]["price"] == 9.5);
  CHECK(answer["results"][0]["item"]["fields"]["year"] == 1977);  // as it was
}

TEST_CASE("places and vectors come from rows and are searched") {
  Sandbox sandbox;
  sandbox.Write(
      "shops.csv",
      "id,title,where\n1,Berlin shop,\"52.52,13.405\"\n2,Paris shop,\"48.8566,2.3522\"\n3,No shop,\n");
  REQUIRE(sandbox.Run({"import", "items", "shops.csv", "--data", "d", "--map", "where=where:point"}).code ==
          0);
  auto answer =
      sandbox.Json({"search", "shop", "--data", "d", "--order-by", "geo_distance(where, 48.9, 2.3)"});
  CHECK(answer["results"][0]["item"]["id"] == "2");
  CHECK(answer["results"][0]["distance_meters"].get<double>() < 10000);
  CHECK(answer["results"][2]["item"]["id"] == "3");
  CHECK_FALSE(answer["results"][2].contains("distance_meters"));
  answer =
      sandbox.Json({"search", "shop", "--data", "d", "--filter", "geo_distance(where, 52.5, 13.4) < 10km"});
  CHECK(answer["total_size"] == "1");
  Ran ran = sandbox.Run({"search", "shop", "--data", "d", "--filter", "geo_distance(where, 52.5) < 10km"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("filter, column"));
  ran = sandbox.Run({"search", "shop", "--data", "d", "--explain"});
  CHECK_THAT(ran.out, Catch::Contains("keyword") && Catch::Contains("idf"));
  ran = sandbox.Run({"search", "--data", "d", "--vector", "where=1,2"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("vector.field: 'where' is no VECTOR field"));
  CHECK(sandbox.Run({"search", "--data", "d", "--vector", "where=a"}).code == 2);
  for (const std::string option : {"--nearest", "--vector-weight"}) {
    CHECK(sandbox.Run({"search", "shop", "--data", "d", option, "1"}).code == 2);  // of no vector
  }
}

TEST_CASE("what is too large is refused with the limit") {
  Sandbox sandbox;
  sandbox.Write("big.jsonl", "{\"id\":\"1\",\"title\":\"" + std::string(50 << 20, 'x') +
                                 "\"}\n{\"id\":\"2\",\"title\":\"small\"}\n");
  Ran ran = sandbox.Run({"import", "items", "big.jsonl", "--data", "d"});
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.err, Catch::Contains("4,194,304") || Catch::Contains("4194304"));
  CHECK_THAT(ran.out, Catch::Contains("1 written, 1 refused"));
  std::string row = "{\"id\":\"3\"";
  for (int i = 0; i < 100000; ++i) absl::StrAppend(&row, ",\"f", i, "\":1");
  sandbox.Write("many.jsonl", row + "}\n");
  ran = sandbox.Run({"import", "items", "many.jsonl", "--data", "d"});
  INFO(ran.err);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("1048576") || Catch::Contains("1,048,576"));
}

}  // namespace
}  // namespace waymark
