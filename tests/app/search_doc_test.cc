// The examples of docs/search.md, as a person types them: the page is read, and each prints what it says.
#include <algorithm>

#include "tests/app/program.h"
#include "tests/support/skip.h"

namespace waymark {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const fs::path& file) {
  std::stringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

// The films as the page has them: rows of id, title, year, genres, cast and extract.
std::string FilmRows() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(tests::SharedData() / "wikipedia-movies")) {
    if (entry.path().filename().string().starts_with("movies-")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string rows;
  int number = 0;
  for (const fs::path& file : files) {
    for (const nlohmann::json& film : nlohmann::json::parse(TextOf(file))) {
      nlohmann::ordered_json row = {{"id", "m" + std::to_string(++number)}};
      for (const char* field : {"title", "year", "genres", "cast", "extract"}) {
        row[field] = film.contains(field) ? film[field] : nlohmann::json();
      }
      rows += row.dump() + "\n";
    }
  }
  return rows;
}

struct Example {
  std::string command;
  std::vector<std::string> arguments;  // without the program's name; DIR is the folder
  std::string printed;
};

// Words of a shell's line, of which some stand in single quotes.
std::vector<std::string> WordsOf(const std::string& line) {
  std::vector<std::string> words = {""};
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back().push_back(c);
    }
  }
  return words;
}

std::vector<Example> ExamplesOf(const std::string& page) {
  const std::string begin = "```\n$ waymark ", end = "```\n";
  std::vector<Example> examples;
  for (size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
    at += begin.size();
    const size_t line = page.find('\n', at);
    Example example{page.substr(at, line - at), {}, page.substr(line + 1, page.find(end, line) - line - 1)};
    example.arguments = WordsOf(example.command);
    std::replace(example.arguments.begin(), example.arguments.end(), std::string("DIR"), std::string("d"));
    examples.push_back(std::move(example));
  }
  return examples;
}

// Without blanks at the ends of lines, and without the last line, which has times.
std::string Compared(const std::string& out) {
  std::string lines, line;
  std::istringstream in(out);
  while (std::getline(in, line)) {
    if (line.starts_with("release none, ranker ")) break;
    lines += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return lines;
}

TEST_CASE("each example of docs/search.md prints what the page says") {
  if (!tests::HaveData("wikipedia-movies")) return;
  tests::Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d", "--format", "jsonl"}, FilmRows()).code == 0);
  const auto examples = ExamplesOf(TextOf(std::string(WAYMARK_SOURCE_DIR) + "/docs/search.md"));
  CHECK(examples.size() >= 6);
  for (const Example& example : examples) {
    INFO(example.command);
    const tests::Ran ran = sandbox.Run(example.arguments);
    CHECK(ran.code == 0);
    CHECK(Compared(ran.out) == example.printed);
  }
}

}  // namespace
}  // namespace waymark
