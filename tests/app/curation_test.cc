#include "tests/app/program.h"

namespace waymark {
namespace {

using tests::Ran;
using tests::Sandbox;

TEST_CASE("synonyms and rules are put, listed, exported, imported and deleted on a folder") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, tests::kFilms).code == 0);
  Ran ran = sandbox.Run({"curation", "put", "synonyms", "monkeys, apes", "--id", "ape", "--data", "d"});
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(ran.out == "ape, revision 1\n");
  REQUIRE(sandbox.Run({"curation", "put", "synonyms", "toys => star", "--id", "toy", "--data", "d"}).code ==
          0);
  ran = sandbox.Run({"curation", "put", "rules",
                     R"({"id":"r","priority":3,"condition":{"match":"EXACT","query":"star"},
                         "pins":[{"item_id":"5","position":1}],"redirect_uri":"/stars"})",
                     "--data", "d"});
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  ran = sandbox.Run({"search", "ape", "--data", "d"});
  CHECK_THAT(ran.out, Catch::Contains("synonym ape: ape also finds monkeys"));
  CHECK_THAT(ran.out, Catch::Contains("Twelve Monkeys"));
  ran = sandbox.Run({"search", "star", "--data", "d"});
  CHECK_THAT(ran.out, Catch::Contains("rule: r"));
  CHECK_THAT(ran.out, Catch::Contains("pinned: 5"));
  CHECK_THAT(ran.out, Catch::Contains("go to: /stars"));
  const auto off = sandbox.Json({"search", "star", "--no-curation", "--data", "d"});
  CHECK(off["results"].size() == 2);
  ran = sandbox.Run({"curation", "list", "synonyms", "--data", "d"});
  CHECK_THAT(ran.out, Catch::Contains("monkeys, apes"));
  CHECK_THAT(ran.out, Catch::Contains("toys => star"));
  ran = sandbox.Run({"curation", "list", "rules", "--data", "d"});
  CHECK_THAT(ran.out, Catch::Contains("EXACT \"star\""));
  CHECK_THAT(ran.out, Catch::Contains("pins 5 at 1; redirects to /stars"));

  REQUIRE(sandbox.Run({"curation", "export", "synonyms", "s.jsonl", "--data", "d"}).code == 0);
  CHECK(sandbox.Read("s.jsonl") ==
        "{\"id\":\"ape\",\"words\":[\"monkeys\",\"apes\"]}\n"
        "{\"id\":\"toy\",\"from\":[\"toys\"],\"to\":[\"star\"]}\n");
  REQUIRE(sandbox.Run({"curation", "export", "rules", "r.jsonl", "--data", "d"}).code == 0);
  REQUIRE(sandbox.Run({"curation", "import", "synonyms", "s.jsonl", "--data", "e"}).code == 0);
  REQUIRE(sandbox.Run({"curation", "import", "rules", "r.jsonl", "--data", "e"}).code == 0);
  REQUIRE(sandbox.Run({"curation", "export", "synonyms", "again.jsonl", "--data", "e"}).code == 0);
  CHECK(sandbox.Read("again.jsonl") == sandbox.Read("s.jsonl"));
  CHECK(sandbox.Json({"curation", "list", "rules", "--data", "e"})["rules"][0]["pins"][0]["item_id"] == "5");
  REQUIRE(sandbox.Run({"curation", "delete", "synonyms", "ape", "toy", "--data", "e"}).code == 0);
  CHECK(sandbox.Json({"curation", "list", "synonyms", "--data", "e"})["synonyms"].empty());
  CHECK(sandbox.Run({"curation", "delete", "synonyms", "ape", "--data", "e"}).code == 1);
}

TEST_CASE("an import of nothing says so, and one of a missing file makes no folder") {
  Sandbox sandbox;
  Ran ran = sandbox.Run({"curation", "import", "synonyms", "none.jsonl", "--data", "d"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("none.jsonl"));
  CHECK_FALSE(std::filesystem::exists(sandbox.Path("d")));
  sandbox.Write("wrong.jsonl", "{\"id\":\"b\",\"words\":[\"one\"]}\n");
  ran = sandbox.Run({"curation", "import", "synonyms", "wrong.jsonl", "--data", "d"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("every line was refused"));
}

TEST_CASE("wrong lines of an import are named by their numbers, and the rest goes on") {
  Sandbox sandbox;
  sandbox.Write("s.jsonl",
                "{\"id\":\"a\",\"words\":[\"one\",\"two\"]}\n\nnonsense\n"
                "{\"id\":\"b\",\"words\":[\"one\"]}\n{\"words\":[\"x\",\"y\"]}\n"
                "{\"id\":\"c\",\"wrods\":[\"x\",\"y\"]}\n{\"id\":\"d\",\"words\":[\"five\",\"six\"]}\n");
  Ran ran = sandbox.Run({"curation", "import", "synonyms", "s.jsonl", "--data", "d"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.err, Catch::Contains("s.jsonl, line 3: is no Synonym in JSON"));
  CHECK_THAT(ran.err, Catch::Contains("s.jsonl, line 4: synonym.words: has one entry"));
  CHECK_THAT(ran.err, Catch::Contains("s.jsonl, line 5: has no id"));
  CHECK_THAT(ran.err, Catch::Contains("s.jsonl, line 6: is no Synonym in JSON"));
  CHECK_THAT(ran.err, Catch::Contains("wrote 2 synonyms, refused 4"));
  ran = sandbox.Run({"curation", "import", "synonyms", "s.jsonl", "--strict", "--data", "e"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("s.jsonl, line 3"));
  CHECK(sandbox.Json({"curation", "list", "synonyms", "--data", "e"})["synonyms"].size() == 1);
  CHECK(sandbox.Run({"curation", "put", "synonyms", "a,,b", "--id", "x", "--data", "d"}).code == 2);
  CHECK(sandbox.Run({"curation", "put", "synonyms", "a, b", "--data", "d"}).code == 2);
  CHECK(sandbox.Run({"curation", "put", "words", "a, b", "--data", "d"}).code == 2);
}

TEST_CASE("commands for curation go through the server that has the folder open") {
  Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d"}, tests::kFilms).code == 0);
  auto server = sandbox.Start(
      {"serve", "--data", "d", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"});
  REQUIRE(server->WaitFor("admin  127.0.0.1:"));
  REQUIRE(sandbox.Run({"curation", "put", "synonyms", "ape, monkeys", "--id", "ape", "--data", "d"}).code ==
          0);
  CHECK(sandbox.Json({"search", "ape", "--data", "d"})["results"][0]["item"]["id"] == "3");
  server->Signal(SIGTERM);
  CHECK(server->Wait().code == 0);
}

}  // namespace
}  // namespace waymark
