#include "app/stop_signal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace waymark {

namespace {

std::atomic<int> signals{0};
int wake_pipe[2] = {-1, -1};

void OnSignal(int number) {
  if (signals.fetch_add(1) > 0) {
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  const int saved = errno;
  [[maybe_unused]] const ssize_t written = write(wake_pipe[1], "s", 1);
  errno = saved;
}

void Handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  signals = 0;
  if (pipe2(wake_pipe, O_CLOEXEC) != 0) wake_pipe[0] = wake_pipe[1] = -1;
  Handle(SIGINT, OnSignal);
  Handle(SIGTERM, OnSignal);
}

StopSignal::~StopSignal() {
  Handle(SIGINT, SIG_DFL);
  Handle(SIGTERM, SIG_DFL);
  for (int& end : wake_pipe) {
    if (end >= 0) close(end);
    end = -1;
  }
}

bool StopSignal::Requested() const { return signals.load() > 0; }

void StopSignal::Wait() const {
  while (!Requested()) {
    pollfd waiting = {wake_pipe[0], POLLIN, 0};
    poll(&waiting, wake_pipe[0] >= 0 ? 1 : 0, 500);
  }
}

}  // namespace waymark
