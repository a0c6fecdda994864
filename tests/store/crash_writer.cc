// A program that writes to a store until it is killed: store_crash_writer DATA ROUND. Answers go to standard
// output.
#include <unistd.h>

#include <thread>
#include <vector>

#include "tests/store/numbered_writes.h"

namespace waymark::tests {
namespace {

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

}  // namespace
}  // namespace waymark::tests

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  waymark::tests::WriteForEver(argv[1], STDOUT_FILENO, std::stoull(argv[2]));
}
