#include <sys/ioctl.h>
#include <sys/stat.h>

#include "tests/app/program.h"

namespace waymark {
namespace {

using tests::kFilms;
using tests::Ran;
using tests::Sandbox;

TEST_CASE("items go in and come out again as they were") {
  Sandbox sandbox;
  sandbox.Write("films.jsonl", kFilms);
  const auto report = sandbox.Json({"import", "items", "films.jsonl", "--data", "d"});
  CHECK(report["written"] == 5);
  CHECK(report["refused"] == 0);
  CHECK(report["complete"] == true);
  REQUIRE(sandbox.Run({"export", "items", "out.jsonl.zst", "--data", "d"}).code == 0);
  REQUIRE(sandbox.Run({"import", "items", "out.jsonl.zst", "--data", "d2"}).code == 0);
  const Ran again = sandbox.Run({"export", "items", "-", "--data", "d2"});
  CHECK(again.code == 0);
  CHECK(again.out == R"({"id":"1","genres":["Action","Sci-Fi"],"title":"Star Wars","year":1977})"
                     "\n"
                     R"({"id":"2","genres":["Animation","Comedy"],"title":"Toy Story","year":1995})"
                     "\n"
                     R"({"id":"3","genres":["Sci-Fi"],"title":"Twelve Monkeys","year":1995})"
                     "\n"
                     R"({"id":"4","genres":["Drama"],"title":"A Star Is Born","year":1954})"
                     "\n"
                     R"({"id":"5","genres":["Action"],"title":"Heat","year":1995})"
                     "\n");
}

TEST_CASE("bad lines are named and counted, the rest goes in") {
  Sandbox sandbox;
  const std::string id513(513, 'x');
  sandbox.Write("mixed.jsonl",
                "{\"id\":\"1\",\"title\":\"good\"}\n{\"id\":\n{\"title\":\"no id\"}\n{\"id\":7}\n{\"id\":\"" +
                    id513 +
                    "\"}\n{\"id\":\"bad\xFF\"}\n{\"id\":\"n\",\"n\":9007199254740993}\n"
                    "{\"id\":\"a\",\"price\":NaN}\n{\"id\":\"2\",\"title\":\"good too\"}\n");
  const Ran ran = sandbox.Run({"import", "items", "mixed.jsonl", "--data", "d"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Catch::Contains("2 written, 7 refused"));
  for (int line = 2; line <= 8; ++line) {
    CHECK_THAT(ran.err, Catch::Contains("mixed.jsonl, line " + std::to_string(line) + ": "));
  }
  CHECK_THAT(ran.err,
             Catch::Contains("beyond 2^53") && Catch::Contains("513 bytes") && Catch::Contains("not UTF-8"));
  CHECK(sandbox.Json({"status", "--data", "d"})["collections"][0]["items"] == "2");
}

TEST_CASE("what is wrong with one of several files is said before anything is made") {
  Sandbox sandbox;
  sandbox.Write("a.jsonl", "{\"id\":\"1\"}\n");
  sandbox.Write("empty.jsonl", "");
  for (const char* wrong : {"empty.jsonl", "missing.jsonl"}) {
    const Ran ran = sandbox.Run({"import", "items", "a.jsonl", wrong, "--data", "d"});
    CHECK(ran.code == 1);
    CHECK_THAT(ran.err, Catch::Contains(wrong));
    CHECK_FALSE(std::filesystem::exists(sandbox.Path("d")));
  }
}

TEST_CASE("a pipe is read once, from its beginning") {
  Sandbox sandbox;
  const std::filesystem::path pipe = sandbox.Path("rows.csv");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] {
    std::ofstream out(pipe);
    out << "id,title\n1,Heat\n2,Alien\n";
  });
  const auto report = sandbox.Json({"import", "items", "rows.csv", "--data", "d", "--format", "csv"});
  writer.join();
  CHECK(report["written"] == 2);
}

TEST_CASE("--strict stops at the first bad line and says how to go on") {
  Sandbox sandbox;
  sandbox.Write("a.jsonl", "{\"id\":\"1\"}\nbroken\n{\"id\":\"3\"}\n");
  Ran ran = sandbox.Run({"import", "items", "a.jsonl", "--data", "d", "--strict"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("a.jsonl, line 2: ") && Catch::Contains("--skip-lines 1"));
  CHECK_THAT(ran.out, Catch::Contains("1 written"));
  ran = sandbox.Run({"import", "items", "a.jsonl", "--data", "d", "--skip-lines", "2"});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Catch::Contains("1 written"));
}

TEST_CASE("files that cannot be imported at all end with 1 and say why") {
  Sandbox sandbox;
  sandbox.Write("empty.jsonl", "");
  sandbox.Write("wrong.csv", "movieId,title\n1,x\n");
  sandbox.Write("bad.jsonl", "x\ny\n");
  Ran ran = sandbox.Run({"import", "items", "empty.jsonl", "--data", "d"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("empty.jsonl: the file is empty"));
  ran = sandbox.Run({"import", "items", "wrong.csv", "--data", "d", "--map", "id=item"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("no column 'item'") && Catch::Contains("movieId, title"));
  CHECK(ran.out.empty());
  ran = sandbox.Run({"import", "items", "wrong.csv", "--data", "d", "--map", "id=movieId:blob"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("'blob' is no type"));
  ran = sandbox.Run({"import", "items", "none.jsonl", "--data", "d"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("none.jsonl"));
  ran = sandbox.Run({"import", "items", "bad.jsonl", "--data", "d"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("every row was refused"));
}

TEST_CASE("ratings in MovieLens' form become events, and an event id makes a second import harmless") {
  Sandbox sandbox;
  sandbox.Write("ratings.csv",
                "userId,movieId,rating,timestamp,rid\n196,242,3,881250949,a\n196,302,4.5,881250950,b\n");
  const std::vector<std::string> import = {
      "import",          "events",      "ratings.csv",  "--data",         "d",
      "--set",           "type=rating", "--map",        "user_id=userId", "--map",
      "item_id=movieId", "--map",       "value=rating", "--map",          "time=timestamp",
      "--id-column",     "rid"};
  CHECK(sandbox.Json(import)["written"] == 2);
  const auto second = sandbox.Json(import);
  CHECK(second["written"] == 0);
  CHECK(second["duplicates"] == 2);
  const Ran out = sandbox.Run({"export", "events", "-", "--data", "d"});
  CHECK_THAT(
      out.out,
      Catch::StartsWith(
          R"({"event_id":"a","type":"rating","user_id":"196","item_id":"242","time":"1997-12-04T15:55:49Z","value":3,)"));
  // Imported history was known when it happened.
  CHECK_THAT(out.out, Catch::Contains(R"("received_time":"1997-12-04T15:55:49Z")"));
}

TEST_CASE("users are imported with their attributes") {
  Sandbox sandbox;
  CHECK(sandbox.Run({"import", "users", "-", "--data", "d"}, "{\"id\":\"u1\",\"age\":24}\n{\"id\":\"u2\"}\n")
            .code == 0);
  CHECK(sandbox.Run({"export", "users", "-", "--data", "d"}).out ==
        "{\"id\":\"u1\",\"age\":24}\n{\"id\":\"u2\"}\n");
}

TEST_CASE("an event of an unknown type is refused by its name") {
  Sandbox sandbox;
  const Ran ran = sandbox.Run({"import", "events", "-", "--data", "d"},
                              "{\"type\":\"teleport\",\"user_id\":\"u\",\"item_id\":\"i\"}\n"
                              "{\"type\":\"view\",\"user_id\":\"u\",\"item_id\":\"i\",\"time\":881250949}\n");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.err, Catch::Contains("line 1: ") && Catch::Contains("teleport"));
  CHECK_THAT(ran.out, Catch::Contains("1 written, 1 refused"));
}

TEST_CASE("Ctrl-C during an import keeps what was read, says how to go on, and that goes on") {
  Sandbox sandbox;
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  auto process = sandbox.Start({"import", "items", "-", "--data", "d"}, ends[0]);
  std::string rows;
  for (int i = 1; i <= 1500; ++i) rows += "{\"id\":\"" + std::to_string(i) + "\"}\n";
  REQUIRE(write(ends[1], rows.data(), rows.size()) == static_cast<ssize_t>(rows.size()));
  // Until all is read: the signal then comes while rows are worked on, or while it waits for more.
  int unread = 1;
  for (int i = 0; i < 600 && unread > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    REQUIRE(ioctl(ends[0], FIONREAD, &unread) == 0);
  }
  REQUIRE(unread == 0);
  process->Signal(SIGINT);
  const Ran ran = process->Wait();
  close(ends[0]);
  close(ends[1]);
  CHECK(ran.code == 1);
  const auto collections = sandbox.Json({"status", "--data", "d"})["collections"];
  const std::string items = collections.empty() ? "0" : collections[0]["items"];
  const int kept = std::stoi(items);
  CHECK(kept <= 1500);
  const std::string written = kept < 1000 ? items : items.substr(0, 1) + "," + items.substr(1);
  CHECK_THAT(ran.out, Catch::Contains(written + " written"));
  if (kept > 0) CHECK_THAT(ran.err, Catch::Contains("--skip-lines " + items));
  // As it was told.
  const Ran again = sandbox.Run({"import", "items", "-", "--data", "d", "--skip-lines", items}, rows);
  const int rest = 1500 - kept;
  if (rest > 0) {
    CHECK(again.code == 0);
  }
  CHECK(sandbox.Json({"status", "--data", "d"})["collections"][0]["items"] == "1500");
}

TEST_CASE("what was refused after the last good row is done too, and a file is named once") {
  Sandbox sandbox;
  std::string rows;
  for (int i = 1; i <= 20000; ++i) {
    rows += "{\"id\":\"" + std::to_string(i) + "\",\"n\":" + std::to_string(i * 7919 % 10007) + "}\n";
    if (i == 100) rows.append("x\n");
  }
  sandbox.Write("rows.jsonl", rows);
  const std::string pack = "gzip -k '" + sandbox.Path("rows.jsonl").string() + "'";
  REQUIRE(std::system(pack.c_str()) == 0);
  std::filesystem::resize_file(sandbox.Path("rows.jsonl.gz"),
                               std::filesystem::file_size(sandbox.Path("rows.jsonl.gz")) / 2);
  const Ran cut = sandbox.Run({"import", "items", "rows.jsonl.gz", "--data", "d"});
  CHECK(cut.code == 1);
  CHECK_THAT(cut.err, Catch::Contains("ends in the middle") && Catch::Contains("--skip-lines"));
  CHECK_THAT(cut.err,
             !Catch::Contains("rows.jsonl.gz: rows.jsonl.gz") && !Catch::Contains("rows.jsonl.gz: after"));

  sandbox.Write("tail.jsonl", "{\"id\":\"1\"}\nx\nx\n{\"id\":\"4\"}\n");
  const Ran strict =
      sandbox.Run({"import", "items", "tail.jsonl", "--data", "d", "--strict", "--skip-lines", "2"});
  CHECK(strict.code == 1);
  CHECK_THAT(strict.err, Catch::Contains("tail.jsonl, line 3: "));
}

TEST_CASE("a search of a folder finds all that is written, also when its index has to be made anew") {
  Sandbox sandbox;
  sandbox.Write("films.jsonl", kFilms);
  REQUIRE(sandbox.Run({"import", "items", "films.jsonl", "--data", "d"}).code == 0);
  std::filesystem::remove_all(sandbox.Path("d/index"));
  CHECK(sandbox.Json({"search", "star", "--data", "d"})["results"].size() == 2);
}

}  // namespace
}  // namespace waymark
