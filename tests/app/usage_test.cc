#include "tests/app/program.h"

namespace waymark {
namespace {

using tests::Ran;
using tests::Sandbox;

const std::vector<std::vector<std::string>> kCommands = {{"serve"},
                                                         {"import", "items"},
                                                         {"import", "users"},
                                                         {"import", "events"},
                                                         {"export", "items"},
                                                         {"export", "users"},
                                                         {"export", "events"},
                                                         {"export", "served"},
                                                         {"evaluate", "ranker"},
                                                         {"search"},
                                                         {"recommend"},
                                                         {"train"},
                                                         {"evaluate", "search"},
                                                         {"evaluate", "recommend"},
                                                         {"model", "list"},
                                                         {"model", "show"},
                                                         {"model", "verify"},
                                                         {"model", "import"},
                                                         {"release", "create"},
                                                         {"release", "list"},
                                                         {"release", "activate"},
                                                         {"release", "rollback"},
                                                         {"experiment", "create"},
                                                         {"experiment", "start"},
                                                         {"experiment", "ramp"},
                                                         {"experiment", "stop"},
                                                         {"experiment", "list"},
                                                         {"experiment", "report"},
                                                         {"experiment", "power"},
                                                         {"federate", "coordinator"},
                                                         {"federate", "site"},
                                                         {"status"}};

TEST_CASE("every command has a help with an example that begins with its own name") {
  Sandbox sandbox;
  const Ran all = sandbox.Run({"--help"});
  CHECK(all.code == 0);
  for (const auto& command : kCommands) {
    std::string name = "waymark";
    for (const std::string& word : command) name += " " + word;
    CAPTURE(name);
    CHECK_THAT(all.out, Catch::Contains(command[0]));
    auto arguments = command;
    arguments.push_back("--help");
    const Ran help = sandbox.Run(arguments);
    CHECK(help.code == 0);
    CHECK_THAT(help.out, Catch::Contains("Example:\n  " + name));
  }
}

TEST_CASE("wrong usage is told on standard error and ends with 2") {
  Sandbox sandbox;
  sandbox.Write("a.csv", "id\n1\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "no command was given"},
      {{"fly"}, "'fly'"},
      {{"import"}, "items, users, events"},
      {{"import", "judges"}, "'judges'"},
      {{"search", "x", "--data", "d", "--wings", "2"}, "--wings"},
      {{"search", "x"}, "--data"},
      {{"search", "x", "--data", "d", "--server", "h:1"}, "--server"},
      {{"search", "x", "--data", "d", "--limit", "many"}, "--limit takes a whole number, and not 'many'"},
      {{"recommend", "--data", "d", "--diversity", "2"}, "2"},
      {{"import", "items", "a.csv", "--data", "d", "--map", "id"}, "FIELD=COLUMN"},
      {{"import", "items", "a.csv", "--data", "d", "--format", "xml"}, "jsonl, csv, tsv and recbole"},
      {{"import", "events", "a.csv", "--data", "d", "--map", "who=id"}, "'who'"},
      {{"import", "items", "--data", "d"}, "files"},
      {{"model", "show", "oracle", "v1", "--data", "d"}, "oracle"},
      {{"train", "everything", "--data", "d"}, "everything"},
      {{"serve"}, "--data"},
      {{"experiment"}, "create, start, ramp, stop, decide, list, report, layer, offpolicy, power"},
      {{"experiment", "start", "--data", "d"}, "id"},
      {{"experiment", "ramp", "x", "--data", "d", "--coverage", "much"}, "much"},
      {{"experiment", "create", "--data", "d", "--unit", "shop"}, "shop"},
      {{"experiment", "power", "--effect", ".1"}, "--baseline of a proportion, or --variance of a mean"},
      {{"experiment", "power", "--effect", ".1", "--baseline", "2"},
       "is '2'; it takes a number between 0 and 1"},
      {{"experiment", "power", "--effect", ".5", "--baseline", ".9"}, "add up to 1.4"},
      {{"search", "x", "--data", "d", "--timeout", "0"}, "is '0'; it takes a number over 0"},
      {{"import", "items", "a.csv", "--data", "d", "--skip-lines", "-1"}, "is '-1'; it takes 0 or more"},
  };
  for (const auto& [arguments, told] : cases) {
    std::string line;
    for (const std::string& argument : arguments) line += argument + " ";
    CAPTURE(line);
    const Ran ran = sandbox.Run(arguments);
    if (!told.empty()) {
      CHECK(ran.code == 2);
      CHECK_THAT(ran.err, Catch::Contains(told));
    }
    CHECK(ran.out.empty());
  }
  CHECK_FALSE(std::filesystem::exists(sandbox.Path("d")));
}

TEST_CASE("a folder that is not there is not made by reading") {
  Sandbox sandbox;
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"search", "x"}, {"recommend"}, {"status"}, {"model", "list"}}) {
    auto with_data = arguments;
    with_data.insert(with_data.end(), {"--data", "nowhere"});
    const Ran ran = sandbox.Run(with_data);
    CHECK(ran.code == 1);
    CHECK_THAT(ran.err, Catch::Contains("no data folder at 'nowhere'"));
    CHECK_FALSE(std::filesystem::exists(sandbox.Path("nowhere")));
  }
}

TEST_CASE("a server that does not answer is named") {
  Sandbox sandbox;
  const Ran ran = sandbox.Run({"search", "x", "--server", "127.0.0.1:1", "--timeout", "3"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::Contains("127.0.0.1:1"));
}

TEST_CASE("a configuration with an unknown key or a wrong value is refused by name") {
  Sandbox sandbox;
  sandbox.Write("bad.json", R"({"data":"d","grcp":"127.0.0.1:0"})");
  Ran ran = sandbox.Run({"serve", "--config", "bad.json"});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, Catch::Contains("bad.json") && Catch::Contains("'grcp'") && Catch::Contains("grpc"));
  sandbox.Write("bad.json", R"({"data":"d","worker_threads":"two"})");
  ran = sandbox.Run({"serve", "--config", "bad.json"});
  CHECK(ran.code == 2);
  CHECK_THAT(ran.err, Catch::Contains("'worker_threads'"));
  CHECK(sandbox.Run({"serve", "--config", "missing.json"}).code == 2);
}

TEST_CASE("results that cannot be written are no success") {
  Sandbox sandbox;
  sandbox.Write("films.jsonl", tests::kFilms);
  REQUIRE(sandbox.Run({"import", "items", "films.jsonl", "--data", "d"}).code == 0);
  const std::vector<std::vector<std::string>> commands = {{"status", "--data", "d"},
                                                          {"status", "--data", "d", "--json"},
                                                          {"model", "list", "--data", "d"},
                                                          {"release", "list", "--data", "d"},
                                                          {"search", "star", "--data", "d"},
                                                          {"recommend", "--data", "d"},
                                                          {"export", "items", "-", "--data", "d"},
                                                          {"export", "items", "/dev/full", "--data", "d"},
                                                          {"import", "items", "films.jsonl", "--data", "d"},
                                                          {"--help"}};
  for (const auto& command : commands) {
    CAPTURE(command);
    std::string line = "'" WAYMARK_PROGRAM "'";
    for (const std::string& word : command) line += " " + word;
    const std::string shell = "cd '" + sandbox.Path("").string() + "' && " + line + " >/dev/full 2>err";
    const int status = std::system(shell.c_str());
    CHECK(WEXITSTATUS(status) == 1);
    CHECK_FALSE(sandbox.Read("err").empty());
  }
  CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("a query that is no UTF-8 is refused, and the lists that were served can still be read") {
  Sandbox sandbox;
  sandbox.Write("films.jsonl", tests::kFilms);
  REQUIRE(sandbox.Run({"import", "items", "films.jsonl", "--data", "d"}).code == 0);
  const Ran ran = sandbox.Run({"search", "star \xFF", "--data", "d"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Catch::StartsWith("waymark: query: ") && Catch::Contains("UTF-8"));
  CHECK(sandbox.Run({"search", "star", "--data", "d"}).code == 0);
  CHECK_THAT(sandbox.Run({"export", "served", "-", "--data", "d"}).out,
             Catch::Contains("\"query\":\"star\""));
}

}  // namespace
}  // namespace waymark
