// A writer that is killed at any moment: what it was answered is there, whole, and the numbers agree.
#include <signal.h>
#include <sys/wait.h>

#include <map>
#include <random>
#include <set>
#include <thread>

#include "tests/store/fixture.h"

namespace waymark::tests {
namespace {

struct Answer {  // one per answered write, through the pipe; 16 bytes are written at once
  uint64_t number;
  uint64_t end;
};

std::string ItemName(uint64_t number) { return absl::StrCat("i", number % 37); }
std::string UserName(uint64_t number) { return absl::StrCat("u", number % 11); }

WriteEvent NumberedEvent(uint64_t number) {
  WriteEvent event = Event(UserName(number), ItemName(number), static_cast<int>(number % 1000));
  event.event_id = absl::StrCat("e", number);
  return event;
}

// Writes until it is killed.
[[noreturn]] void WriteForEver(const std::filesystem::path& data, int answers, uint64_t round) {
  auto store = Store::Open(data, {.cache_bytes = 8 << 20});
  if (!store.ok()) _exit(3);
  const Scope scope = *(*store)->CreateCollection({});
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0;; ++i) {
        const uint64_t number = round * 1000000 + t * 100000 + i;
        auto receipt = (*store)->Write(scope, {NumberedEvent(number), PutItem{ItemName(number), {}},
                                               PutUser{UserName(number), Fields({{"n", Number(1.0)}})}});
        if (!receipt.ok()) _exit(4);
        const Answer answer = {number, receipt->position.parts(0).offset()};
        if (write(answers, &answer, sizeof answer) != sizeof answer) _exit(5);
        if (i % 50 == 49 && t == 0 && !(*store)->Flush().ok()) _exit(6);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  _exit(7);
}

// Kills it so long after its first answer; at once, while it opens, when that is negative.
std::vector<Answer> WriteAndKill(const std::filesystem::path& data, uint64_t round,
                                 std::chrono::milliseconds after_first) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    WriteForEver(data, ends[1], round);
  }
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
