// The examples of docs/search.md, as a person types them: the page is read, everything in its fenced blocks
// runs against a served folder, in the order of the page, and says what the page says.
#include <algorithm>
#include <cstdio>

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

// A block of the page between fences.
struct Block {
  enum class Kind {
    kPrinted,  // «$ command», then what it prints
    kScript,   // lines for a shell
    kAnswer,   // JSON that the last answer of the script before holds
  };
  Kind kind = Kind::kScript;
  std::string text;
};

std::vector<Block> BlocksOf(const std::string& page) {
  std::vector<Block> blocks;
  std::istringstream lines(page);
  std::string line, text, language;
  bool inside = false;
  while (std::getline(lines, line)) {
    const bool fence = line.starts_with("```");
    if (fence && inside) {
      Block::Kind kind = text.starts_with("$ ") ? Block::Kind::kPrinted : Block::Kind::kScript;
      if (language == "json") kind = Block::Kind::kAnswer;
      blocks.push_back({kind, text});
    } else if (inside) {
      text += line + "\n";
    }
    if (!fence) continue;
    inside = !inside;
    language = line.substr(3);
    text.clear();
  }
  return blocks;
}

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// Runs the page's commands in the sandbox, with the folder and the address of its server in place of the
// page's.
class Shell {
 public:
  Shell(const tests::Sandbox& sandbox, std::string address)
      : sandbox_(sandbox), address_(std::move(address)) {}

  tests::Ran Run(const std::string& commands) const {
    const fs::path program = WAYMARK_PROGRAM;
    sandbox_.Write(
        "script", "set -e\ncd '" + sandbox_.Path("").string() + "'\nPATH='" + program.parent_path().string() +
                      "':$PATH\n" + "curl() { command curl --fail-with-body -sS \"$@\"; echo; }\n" +
                      Replaced(Replaced(commands, "localhost:7780", address_), "--data DIR", "--data d"));
    FILE* out = popen(("sh '" + sandbox_.Path("script").string() + "' 2>&1").c_str(), "r");
    REQUIRE(out != nullptr);
    tests::Ran ran;
    char bytes[4096];
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, out)) > 0;) ran.out.append(bytes, n);
    ran.code = pclose(out);
    return ran;
  }

 private:
  const tests::Sandbox& sandbox_;
  const std::string address_;
};

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

// Whether an answer has all keys of what the page shows; lists are whole.
bool Holds(const nlohmann::json& answer, const nlohmann::json& shown) {
  if (shown.is_object()) {
    if (!answer.is_object()) return false;
    return std::all_of(shown.items().begin(), shown.items().end(), [&](const auto& entry) {
      return answer.contains(entry.key()) && Holds(answer[entry.key()], entry.value());
    });
  }
  if (shown.is_array()) {
    if (!answer.is_array() || answer.size() != shown.size()) return false;
    for (size_t i = 0; i < shown.size(); ++i) {
      if (!Holds(answer[i], shown[i])) return false;
    }
    return true;
  }
  return answer == shown;
}

std::string LastLine(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const size_t before = text.rfind('\n', end);
  return text.substr(before == std::string::npos ? 0 : before + 1, end - before);
}

// Words of what was just written are found a moment later: a script that only reads last is asked again.
void CheckAnswer(const Shell& shell, const std::string& script, const std::string& shown_text) {
  const nlohmann::json shown = nlohmann::json::parse(shown_text);
  std::string last;
  for (int i = 0; i < 60; ++i) {
    last = LastLine(shell.Run(script).out);
    const nlohmann::json answer = nlohmann::json::parse(last, nullptr, false);
    if (!answer.is_discarded() && Holds(answer, shown)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
  FAIL_CHECK("the page shows\n" << shown_text << "and the answer is\n" << last);
}

TEST_CASE("each example of docs/search.md says what the page says") {
  if (!tests::HaveData("wikipedia-movies")) return;
  tests::Sandbox sandbox;
  REQUIRE(sandbox.Run({"import", "items", "-", "--data", "d", "--format", "jsonl"}, FilmRows()).code == 0);
  const auto server = sandbox.Start(
      {"serve", "--data", "d", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"});
  REQUIRE(server->WaitFor("admin  127.0.0.1:"));
  const Shell shell(sandbox, tests::AddressAfter(server->Output(), "HTTP"));
  const auto blocks = BlocksOf(TextOf(std::string(WAYMARK_SOURCE_DIR) + "/docs/search.md"));
  int printed = 0, answers = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const std::string& text = blocks[i].text;
    INFO(text);
    if (blocks[i].kind == Block::Kind::kPrinted) {
      const size_t line = text.find('\n');
      const tests::Ran ran = shell.Run(text.substr(2, line - 1));
      CHECK(ran.code == 0);
      CHECK(Compared(ran.out) == text.substr(line + 1));
      ++printed;
    } else if (blocks[i].kind == Block::Kind::kScript) {
      const tests::Ran ran = shell.Run(text);
      INFO(ran.out);
      CHECK(ran.code == 0);
    } else {
      REQUIRE(i > 0);
      REQUIRE(blocks[i - 1].kind == Block::Kind::kScript);
      CheckAnswer(shell, blocks[i - 1].text, text);
      ++answers;
    }
  }
  CHECK(printed >= 9);
  CHECK(answers >= 3);
}

}  // namespace
}  // namespace waymark
