// Runs the built waymark-train, alone or under a launcher, on shards that a test has written.
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/retriever_training/training_fixture.h"
#include "tests/shards/written_shards.h"
#include "tests/support/catch.h"
#include "tests/support/free_port.h"
#include "tests/support/sequences.h"
#include "tests/support/skip.h"

// Exit codes in the message of a check.
template <>
struct Catch::StringMaker<std::optional<int>> {
  static std::string convert(const std::optional<int>& code) {
    return code ? std::to_string(*code) : "still runs";
  }
};

namespace waymark::tests {

inline std::string TextOf(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

// A program that runs; its outputs go to files of the folder.
class Launched {
 public:
  Launched(const std::filesystem::path& folder, const std::string& name,
           const std::vector<std::string>& command, const std::vector<std::string>& environment = {})
      : out_(folder / (name + ".out")), err_(folder / (name + ".err")) {
    // A signal before the program is there would be answered by the test's own handler in the copy of it.
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_ = fork();
    if (pid_ != 0) {
      sigprocmask(SIG_SETMASK, &before, nullptr);
      return;
    }
    for (const int number : {SIGTERM, SIGINT}) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    setpgid(0, 0);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
    dup2(open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"})
      unsetenv(name);
    setenv("OMP_NUM_THREADS", "1", 1);
    for (const std::string& assignment : environment) putenv(const_cast<char*>(assignment.c_str()));
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  ~Launched() {
    if (pid_ <= 0) return;
    kill(-pid_, SIGKILL);  // the group is its own
    waitpid(pid_, nullptr, 0);
  }
  Launched(const Launched&) = delete;

  void Signal(int number) const {
    if (pid_ > 0) kill(pid_, number);
  }
  // The exit code, 128 + signal; none: it has not ended within the time.
  std::optional<int> Wait(double seconds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < until) {
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return std::nullopt;
  }
  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  std::string out() const { return TextOf(out_); }
  std::string err() const { return TextOf(err_); }

 private:
  std::filesystem::path out_, err_;
  pid_t pid_ = -1;
};

// Shards of the chain that a retriever learns in a few epochs.
inline std::vector<HistoryExample> ChainHistories(size_t users, size_t length, ItemOrdinal items) {
  const Interactions events = MarkovHistories(users, length, items, 2, 5);
  std::vector<HistoryExample> histories;
  for (size_t u = 0; u < events.user_count(); ++u) {
    HistoryExample example;
    example.user = 100 + u;
    for (uint64_t e = events.starts[u]; e < events.starts[u + 1]; ++e) {
      example.rows.push_back(events.items[e]);
      example.times_us.push_back(events.times_us[e]);
    }
    example.held_out = 1;
    histories.push_back(example);
  }
  return histories;
}

// Amazon Beauty; wants its data (HaveData).
inline std::vector<HistoryExample> BeautyHistories() {
  const Interactions events = LoadBeauty();
  std::vector<HistoryExample> histories;
  for (size_t u = 0; u < events.user_count(); ++u) {
    HistoryExample example;
    example.user = events.users[u];
    for (uint64_t e = events.starts[u]; e < events.starts[u + 1]; ++e) {
      example.rows.push_back(events.items[e]);
      example.times_us.push_back(events.times_us[e]);
    }
    example.held_out = 1;
    histories.push_back(example);
  }
  return histories;
}

// A folder with shards in `shards`, and runs of waymark-train on them.
class TrainFolder {
 public:
  explicit TrainFolder(const std::vector<HistoryExample>& histories, int64_t items, int files = 8,
                       const WrittenBy& by = {})
      : folder_("waymark-train") {
    std::filesystem::create_directories(folder_ / "shards");
    WriteShards(folder_ / "shards", files, items, histories, 1, by);
  }
  // An empty folder for shards.
  TrainFolder() : folder_("waymark-train") { std::filesystem::create_directories(folder_ / "shards"); }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

  // What `options` does not give comes from `usual`, in pairs.
  std::vector<std::string> Command(const std::string& package, const std::vector<std::string>& options,
                                   std::vector<std::string> usual = {}) const {
    usual.insert(usual.end(), {"--shards", folder_ / "shards", "--package", folder_ / package});
    std::vector<std::string> command = {WAYMARK_TRAIN_PROGRAM};
    for (size_t i = 0; i < usual.size(); i += 2) {
      if (std::find(options.begin(), options.end(), usual[i]) != options.end()) continue;
      command.insert(command.end(), {usual[i], usual[i + 1]});
    }
    command.insert(command.end(), options.begin(), options.end());
    return command;
  }
  // Small and quick, for shards of a chain.
  std::vector<std::string> SmallCommand(const std::string& package,
                                        const std::vector<std::string>& options) const {
    return Command(package, options,
                   {"--width", "32", "--history", "12", "--batch-tokens", "256", "--dropout", "0.1",
                    "--warmup-steps", "10", "--timeout", "20"});
  }
  std::unique_ptr<Launched> Start(const std::string& name, const std::vector<std::string>& command) const {
    return std::make_unique<Launched>(folder_.path(), name, command);
  }
  // Runs it to its end and expects 0.
  void Train(const std::string& name, const std::vector<std::string>& command, double seconds = 240) const {
    auto run = Start(name, command);
    const auto code = run->Wait(seconds);
    INFO(name << ": " << run->err());
    REQUIRE(code == 0);
  }

  // step -> loss, as --losses wrote them.
  static std::vector<double> LossesIn(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::vector<double> losses;
    int64_t step = 0;
    double loss = 0;
    while (in >> step >> loss) losses.push_back(loss);
    return losses;
  }
  std::vector<double> Losses(const std::string& file) const { return LossesIn(folder_ / file); }
  nlohmann::json Report(const std::string& file) const {
    return nlohmann::json::parse(TextOf(folder_ / file), nullptr, false);
  }

 private:
  ShardFolder folder_;
};

// Those that are whole, or look so; the oldest first.
inline std::vector<std::filesystem::path> CheckpointsIn(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".part") names.push_back(entry.path());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline double LargestDifference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]) / std::abs(a[i]));
  }
  return largest;
}

}  // namespace waymark::tests
