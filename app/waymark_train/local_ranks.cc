#include "app/waymark_train/local_ranks.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "training/distributed/launch.h"

namespace waymark {
namespace {

constexpr double kAskedAfter = 5;  // seconds: a rank that still waits for the others to come ends by SIGTERM

std::atomic<int> forwarded{0};
void KeepSignal(int number) { forwarded = number; }

// A socket that listens on a free port of this machine; rank 0 takes it over, so that nobody else gets the
// port.
int ListenLocally(int* port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  if (descriptor < 0 || bind(descriptor, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      listen(descriptor, 1024) != 0 ||
      getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return -1;
  }
  *port = ntohs(address.sin_port);
  return descriptor;
}

void BecomeRank(int rank, int ranks, int descriptor, int port) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  const auto set = [](const char* name, int value) { setenv(name, std::to_string(value).c_str(), 1); };
  set("RANK", rank);
  set("WORLD_SIZE", ranks);
  set("LOCAL_RANK", rank);
  set("MASTER_PORT", port);
  set(kLocalRanks, ranks);
  setenv("MASTER_ADDR", "127.0.0.1", 1);
  if (rank == 0) {
    set("WAYMARK_LISTEN_DESCRIPTOR", descriptor);
  } else {
    close(descriptor);
  }
}

int CodeOf(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

int RunLocalRanks(int ranks, double grace_s, const std::function<int()>& run) {
  int port = 0;
  const int descriptor = ListenLocally(&port);
  if (descriptor < 0) {
    std::fprintf(stderr, "waymark-train: cannot listen on 127.0.0.1: %s\n", std::strerror(errno));
    return 1;
  }
  std::fflush(nullptr);
  struct Rank {
    int number;
    pid_t pid;
  };
  std::vector<Rank> running;
  for (int r = 0; r < ranks; ++r) {
    const pid_t pid = fork();
    if (pid == 0) {
      BecomeRank(r, ranks, descriptor, port);
      const int code = run();
      std::fflush(nullptr);
      std::_Exit(code);
    }
    if (pid < 0) {
      std::fprintf(stderr, "waymark-train: cannot start rank %d: %s\n", r, std::strerror(errno));
      for (const Rank& other : running) kill(other.pid, SIGKILL);
      return 1;
    }
    running.push_back({r, pid});
  }
  close(descriptor);
  struct sigaction action = {};
  action.sa_handler = KeepSignal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  int result = 0;
  bool asked = false;
  std::chrono::steady_clock::time_point failed_at;
  while (!running.empty()) {
    if (const int number = forwarded.exchange(0); number != 0) {
      for (const Rank& rank : running) kill(rank.pid, number);
    }
    for (size_t i = 0; i < running.size();) {
      int status = 0;
      if (waitpid(running[i].pid, &status, WNOHANG) <= 0) {
        ++i;
        continue;
      }
      // It could not say so itself.
      if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        std::fprintf(stderr, "waymark-train: rank %d was ended by signal %d (%s)%s\n", running[i].number,
                     number, strsignal(number),
                     number == SIGKILL ? "; the system does that when memory runs out" : "");
      }
      running.erase(running.begin() + static_cast<int64_t>(i));
      if (CodeOf(status) != 0 && result == 0) {
        result = CodeOf(status);
        failed_at = std::chrono::steady_clock::now();
      }
    }
    const double since = std::chrono::duration<double>(std::chrono::steady_clock::now() - failed_at).count();
    if (result != 0 && since > kAskedAfter && !std::exchange(asked, true)) {
      for (const Rank& rank : running) kill(rank.pid, SIGTERM);
    }
    if (result != 0 && since > grace_s) {
      for (const Rank& rank : running) kill(rank.pid, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return result;
}

}  // namespace waymark
