// A writer that is killed at any moment: what it was answered is there, whole, and the numbers agree.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <random>
#include <set>
#include <thread>

#include "tests/store/numbered_writes.h"

namespace waymark::tests {
namespace {

// Kills it so long after its first answer; at once, while it opens, when that is negative.
std::vector<Answer> WriteAndKill(const std::filesystem::path& data, uint64_t round,
                                 std::chrono::milliseconds after_first) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "store_crash_writer";
  const std::string number = std::to_string(round);
  const char* arguments[] = {program.c_str(), data.c_str(), number.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = 0;
  REQUIRE(posix_spawn(&child, program.c_str(), &actions, nullptr, const_cast<char**>(arguments), environ) ==
          0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::vector<Answer> answers;
  Answer answer;
  std::thread killer;
  if (after_first.count() < 0) {
    std::this_thread::sleep_for(-after_first);
    kill(child, SIGKILL);
  }
  while (read(ends[0], &answer, sizeof answer) == sizeof answer) {
    answers.push_back(answer);
    if (killer.joinable()) continue;
    killer = std::thread([&] {
      std::this_thread::sleep_for(after_first);
      kill(child, SIGKILL);
    });
  }
  if (killer.joinable()) killer.join();
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  return answers;
}

}  // namespace

TEST_CASE("a writer that is killed loses nothing that it was answered, and leaves no half write") {
  TemporaryFolder folder;
  std::mt19937 random(7);
  std::set<uint64_t> answered;
  LogOffset answered_end = 0;
  for (uint64_t round = 0; round < 8; ++round) {
    const std::chrono::milliseconds after(round % 4 == 3 ? -1 - static_cast<int>(random() % 100)
                                                         : static_cast<int>(random() % 400));
    for (const Answer& answer : WriteAndKill(folder.path(), round, after)) {
      answered.insert(answer.number);
      answered_end = std::max(answered_end, answer.end);
    }
    auto store = Store::Open(folder.path(), {.cache_bytes = 8 << 20});
    REQUIRE(store.status() == absl::OkStatus());
    const Scope scope = *(*store)->CreateCollection({});
    CHECK((*store)->End() >= answered_end);

    std::map<uint64_t, int> seen;
    std::map<std::string, int64_t> versions;
    std::set<UserNumber> users;
    LogOffset last = 0;
    int64_t events = 0;
    auto end = (*store)->Read(scope, 0, SIZE_MAX, [&](const Change& change) {
      CHECK(change.offset == last + 1);
      last = change.offset;
      if (change.entry.has_event()) {
        ++events;
        seen[std::stoull(change.entry.event().event_id().substr(1))] |= 1;
        users.insert(change.entry.event().user());
      }
      if (change.entry.has_item()) {
        CHECK(change.entry.item().record().version() == ++versions[change.entry.item().record().id()]);
      }
      return absl::OkStatus();
    });
    REQUIRE(end.ok());
    CHECK(last == (*store)->End());
    CHECK(last % 3 == 0);  // writes of three changes are there whole
    for (uint64_t number : answered) REQUIRE(seen.contains(number));
    const StoreCounts counts = (*store)->Counts(scope);
    CHECK(counts.events == events);
    CHECK(counts.items == static_cast<int64_t>(versions.size()));
    CHECK(counts.users == static_cast<int64_t>(users.size()));
    size_t lines = 0;
    for (UserNumber user : users) lines += (*store)->ReadHistory(scope, user, {.limit = SIZE_MAX}).size();
    CHECK(static_cast<int64_t>(lines) == events);
    // An event that was answered stays a duplicate.
    if (!answered.empty()) {
      auto again =
          (*store)->Write(scope, {NumberedEvent(*answered.begin()), NumberedEvent(*answered.rbegin())});
      REQUIRE(again.ok());
      CHECK(again->results[0].duplicate);
      CHECK(again->results[1].duplicate);
    }
  }
  CHECK(answered.size() > 20);
}

}  // namespace waymark::tests
