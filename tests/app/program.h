// Runs the built `waymark` in a folder of its own.
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.h"

namespace waymark::tests {

struct Ran {
  int code = -1;
  std::string out, err;
};

// A process whose output goes to files.
class Process {
 public:
  Process(const std::filesystem::path& folder, const std::vector<std::string>& arguments, int input)
      : out_(folder / ("out-" + std::to_string(count()++))), err_(out_.string() + ".err") {
    pid_ = fork();
    if (pid_ != 0) return;
    dup2(input, STDIN_FILENO);
    dup2(open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
    dup2(open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    unsetenv("WAYMARK_DATA");
    if (chdir(folder.c_str()) != 0) _exit(126);
    std::vector<char*> argv = {const_cast<char*>(WAYMARK_PROGRAM)};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(WAYMARK_PROGRAM, argv.data());
    _exit(127);
  }
  ~Process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Process(const Process&) = delete;

  // To the process alone: once it has ended, kill() would take its number for everybody's.
  void Signal(int number) const {
    if (pid_ > 0) kill(pid_, number);
  }
  Ran Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), Output(), Text(err_)};
  }
  std::string Output() const { return Text(out_); }
  std::string Errors() const { return Text(err_); }
  // Until standard output holds `text`; false after 60 seconds.
  bool WaitFor(const std::string& text) const {
    for (int i = 0; i < 1200; ++i) {
      if (Output().find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

 private:
  static int& count() {
    static int made = 0;
    return made;
  }
  static std::string Text(const std::filesystem::path& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  std::filesystem::path out_, err_;
  pid_t pid_ = -1;
};

// A temporary folder in which the program runs; `d` is the name of the data folder.
class Sandbox {
 public:
  Sandbox() {
    std::string pattern = (std::filesystem::temp_directory_path() / "waymark-app-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Sandbox() { std::filesystem::remove_all(folder_); }

  std::filesystem::path Path(const std::string& name) const { return folder_ / name; }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
  }
  std::string Read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(Path(name), std::ios::binary).rdbuf();
    return text.str();
  }
  Ran Run(const std::vector<std::string>& arguments, const std::string& input = "") const {
    Write("stdin", input);
    const int descriptor = open(Path("stdin").c_str(), O_RDONLY | O_CLOEXEC);
    Process process(folder_, arguments, descriptor);
    close(descriptor);
    return process.Wait();
  }
  std::unique_ptr<Process> Start(const std::vector<std::string>& arguments, int input = STDIN_FILENO) const {
    return std::make_unique<Process>(folder_, arguments, input);
  }
  // What a command with --json prints; the test fails when that is not one document.
  nlohmann::json Json(std::vector<std::string> arguments) const {
    arguments.push_back("--json");
    const Ran ran = Run(arguments);
    INFO(ran.err);
    INFO(ran.out);
    REQUIRE(ran.code == 0);
    nlohmann::json document = nlohmann::json::parse(ran.out, nullptr, false);
    REQUIRE_FALSE(document.is_discarded());
    return document;
  }

 private:
  std::filesystem::path folder_;
};

// The address that `waymark serve` has printed after a label («gRPC», «HTTP», «admin»).
inline std::string AddressAfter(const std::string& output, const std::string& label) {
  const size_t from = output.find("127.0.0.1:", output.find(label));
  return output.substr(from, output.find_first_of(" \n", from) - from);
}

// Five films, for searches.
inline const char* kFilms = R"({"id":"1","title":"Star Wars","genres":["Action","Sci-Fi"],"year":1977})"
                            "\n"
                            R"({"id":"2","title":"Toy Story","genres":["Animation","Comedy"],"year":1995})"
                            "\n"
                            R"({"id":"3","title":"Twelve Monkeys","genres":["Sci-Fi"],"year":1995})"
                            "\n"
                            R"({"id":"4","title":"A Star Is Born","genres":["Drama"],"year":1954})"
                            "\n"
                            R"({"id":"5","title":"Heat","genres":["Action"],"year":1995})"
                            "\n";

}  // namespace waymark::tests
